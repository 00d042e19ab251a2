import type { SimReply } from '../lib/index.ts';
import {
  badRequest,
  cursorPart,
  encodeCursor,
  cursorOf,
  flag,
  integer,
  listReply,
  notFound,
  ok,
  pageDown,
  type Call,
  type PublicRoute,
} from './call.ts';
import type { Exchange } from './exchange.ts';
import type { Holding, SimMarket } from './market.ts';
import type { Trader } from './traders.ts';
import { pnl, shownName } from './truth.ts';
import { countText, DAY_US, priceText, timeText } from './units.ts';

/** A market's uuid on the social endpoints; nothing else uses it. */
export const marketId = (market: SimMarket): string =>
  `00000000-5151-6a6a-0000-${String(market.index).padStart(12, '0')}`;

function traderOf(call: Call): Trader {
  const nickname = call.query.get('nickname');
  if (!nickname) throw badRequest('missing nickname');
  const trader = call.exchange.traders.find((one) => one.nickname === nickname);
  if (!trader) throw notFound();
  return trader;
}

function pageSize(call: Call, name: string): number {
  const size = integer(call, name) ?? 100;
  if (size < 1 || size > 200) throw badRequest(`invalid ${name}`);
  return size;
}

function socialTrade(exchange: Exchange, position: number): Record<string, unknown> {
  const { tape } = exchange;
  const market = exchange.marketOf(position);
  const price = tape.yesPrice.at(position);
  const count = tape.count.at(position);
  const maker = shownName(exchange, tape.maker.at(position));
  const taker = shownName(exchange, tape.taker.at(position));
  const idOf = (name: string, trader: number): string =>
    name === '' ? '' : (exchange.traders[trader]?.socialId ?? '');
  return {
    trade_id: tape.id(position),
    market_id: marketId(market),
    ticker: market.ticker,
    price: Math.round(price / 100),
    price_dollars: priceText(price),
    count: Math.floor(count / 100),
    count_fp: countText(count),
    taker_side: tape.takerYes(position) ? 'yes' : 'no',
    // The maker's action is unreliable: mostly empty.
    maker_action: position % 3 === 0 ? 'buy' : '',
    taker_action: 'buy',
    maker_nickname: maker,
    taker_nickname: taker,
    maker_social_id: idOf(maker, tape.maker.at(position)),
    taker_social_id: idOf(taker, tape.taker.at(position)),
    create_date: timeText(tape.timeUs.at(position)),
  };
}

/** Newest first. A hidden profile has no rows, which is a 200. */
function trades(call: Call): SimReply {
  const { exchange } = call;
  const trader = call.query.get('nickname') ? traderOf(call) : null;
  if (trader?.visibility === 'hidden') return listReply('trades', [], `${cursorPart('')},"visibility_state":"hidden"`);
  const series = call.query.get('series_ticker');
  const { tape } = exchange;
  const { positions, cursor } = pageDown(call, {
    start: tape.length,
    limit: pageSize(call, 'page_size'),
    before: (position) => tape.rows.before(position),
    keep: (position) =>
      (!trader || tape.maker.at(position) === trader.index || tape.taker.at(position) === trader.index) &&
      (!series || exchange.marketOf(position).ticker.startsWith(`${series}-`)),
  });
  return ok({ trades: positions.map((position) => socialTrade(exchange, position)), cursor });
}

function profile(call: Call): SimReply {
  const trader = traderOf(call);
  return ok({
    social_profile: {
      nickname: trader.nickname,
      social_id: trader.socialId,
      joined_at: timeText(trader.joinedMs * 1000),
      description: trader.description,
      follower_count: trader.index * 7,
      following_count: trader.index * 3,
      profile_image_path: '',
      profile_view_count: trader.index * 41,
    },
  });
}

function held(call: Call, trader: Trader): { market: SimMarket; holding: Holding }[] {
  return call.exchange.markets.flatMap((market) => {
    const holding = market.holdings.get(trader.index);
    return holding ? [{ market, holding }] : [];
  });
}

function metrics(call: Call): SimReply {
  const trader = traderOf(call);
  if (trader.visibility === 'hidden') return ok({ metrics: {}, visibility_state: 'hidden' });
  const days = integer(call, 'since_day_before') ?? 0;
  const { exchange } = call;
  const { tape } = exchange;
  const left = days === 0 ? exchange.forgotten.traders.get(trader.index) : undefined;
  const first = days === 0 ? 0 : tape.rows.countUpTo(exchange.nowUs - days * DAY_US);
  let volume = left?.volume ?? 0;
  const traded = new Set(days === 0 ? held(call, trader).map(({ market }) => market.index) : []);
  for (let position = tape.rows.before(tape.length); position >= first; position = tape.rows.before(position)) {
    if (tape.maker.at(position) !== trader.index && tape.taker.at(position) !== trader.index) continue;
    volume += tape.count.at(position);
    traded.add(tape.market.at(position));
  }
  const holdings = held(call, trader);
  const open = holdings
    .filter(({ market }) => market.status !== 'finalized')
    .reduce((sum, { holding }) => sum + Math.abs(holding.position), 0);
  return ok({
    metrics: {
      pnl: holdings.reduce((sum, { market, holding }) => sum + pnl(market, holding), left?.pnl ?? 0),
      volume: Math.floor(volume / 100),
      volume_fp: countText(volume),
      open_interest: Math.floor(open / 100),
      open_interest_fp: countText(open),
      num_markets_traded: traded.size + (left?.markets ?? 0),
    },
  });
}

/** By event; open positions, or with closed_positions=true those that are flat or paid out. */
function holdings(call: Call): SimReply {
  const trader = traderOf(call);
  if (trader.visibility === 'hidden') return ok({ holdings: [], cursor: '', visibility_state: 'hidden' });
  const closed = flag(call, 'closed_positions');
  const limit = pageSize(call, 'limit');
  const byEvent = new Map<string, { market: SimMarket; holding: Holding }[]>();
  for (const one of held(call, trader)) {
    const isOpen = one.holding.position !== 0 && one.market.status !== 'finalized';
    if (isOpen === closed) continue;
    const { eventTicker } = one.market.spec;
    byEvent.set(eventTicker, [...(byEvent.get(eventTicker) ?? []), one]);
  }
  const from = cursorOf(call, 0);
  const rows = [...byEvent].slice(from, from + limit).map(([eventTicker, list]) => ({
    event_ticker: eventTicker,
    series_ticker: call.exchange.eventByTicker.get(eventTicker)?.spec.series.ticker ?? '',
    total_absolute_position: list.reduce((sum, { holding }) => sum + Math.abs(holding.position), 0) / 100,
    market_holdings: list.map(({ market, holding }) => ({
      market_id: marketId(market),
      market_ticker: market.ticker,
      signed_open_position: holding.position / 100,
      pnl: pnl(market, holding),
    })),
  }));
  return ok({ holdings: rows, cursor: from + limit < byEvent.size ? encodeCursor(from + limit) : '' });
}

/** Undocumented, without key; base ends in /v1. */
export const socialRoutes: readonly PublicRoute[] = [
  { method: 'GET', path: '/social/trades', handle: trades },
  { method: 'GET', path: '/social/profile', handle: profile },
  { method: 'GET', path: '/social/profile/metrics', handle: metrics },
  { method: 'GET', path: '/social/profile/holdings', handle: holdings },
];
