import { json, type SimReply } from '../lib/index.ts';
import {
  badRequest,
  commaList,
  cursorPart,
  flag,
  isLive,
  limitOf,
  listReply,
  notFound,
  ok,
  pageDown,
  timeUs,
  type Call,
  type PublicRoute,
} from './call.ts';
import type { SimEvent } from './exchange.ts';
import { statusFilter } from './markets-api.ts';
import { eventJson, marketJson, seriesWire } from './render.ts';

/** JSON of the markets the live tier still has; archived ones are dropped without a word. */
const liveMarkets = (call: Call, event: SimEvent): string[] =>
  event.markets.filter((market) => isLive(call.exchange, market)).map((market) => marketJson(call.exchange, market));

function eventPage(call: Call, keep: (event: SimEvent) => boolean, normal: number): { rows: string[]; cursor: string } {
  const { exchange } = call;
  const nested = flag(call, 'with_nested_markets');
  const { positions, cursor } = pageDown(call, {
    start: exchange.born.events,
    limit: limitOf(call, 200, normal, 1),
    keep: (position) => {
      const event = exchange.eventAt(position);
      return event !== undefined && keep(event);
    },
  });
  const rows = positions.map((position) => {
    const event = exchange.eventAt(position) as SimEvent;
    return eventJson(event, { single: false, ...(nested ? { nested: liveMarkets(call, event) } : {}) });
  });
  return { rows, cursor };
}

function listEvents(call: Call): SimReply {
  const statuses = statusFilter(call);
  if (call.query.get('status') === 'paused') throw badRequest('invalid status filter');
  const tickers = commaList(call, 'tickers');
  const series = call.query.get('series_ticker');
  const minCloseUs = timeUs(call, 'min_close_ts');
  const minUpdatedUs = timeUs(call, 'min_updated_ts');
  flag(call, 'with_milestones');
  const { rows, cursor } = eventPage(
    call,
    ({ spec, markets, updatedUs }) =>
      !spec.combo &&
      (!statuses || markets.some((market) => statuses.includes(market.status))) &&
      (!tickers || tickers.includes(spec.ticker)) &&
      (!series || spec.ticker.startsWith(`${series}-`)) &&
      (minCloseUs === null || markets.some((market) => market.closeMs * 1000 >= minCloseUs)) &&
      (minUpdatedUs === null || updatedUs >= minUpdatedUs),
    200,
  );
  return listReply('events', rows, `"milestones":[],${cursorPart(cursor)}`);
}

function listCombos(call: Call): SimReply {
  const series = call.query.get('series_ticker');
  const collection = call.query.get('collection_ticker');
  if (series && collection) throw badRequest('series_ticker and collection_ticker are mutually exclusive');
  const { rows, cursor } = eventPage(
    call,
    ({ spec, markets }) =>
      spec.combo &&
      (!series || spec.ticker.startsWith(`${series}-`)) &&
      (!collection || markets.some((market) => market.spec.fixed.mve_collection_ticker === collection)),
    100,
  );
  return listReply('events', rows, cursorPart(cursor));
}

function eventOf(call: Call): SimEvent {
  const event = call.exchange.eventByTicker.get(call.params[0] ?? '');
  if (!event) throw notFound();
  return event;
}

function oneEvent(call: Call): SimReply {
  const event = eventOf(call);
  const markets = liveMarkets(call, event);
  return flag(call, 'with_nested_markets')
    ? json(200, `{"event":${eventJson(event, { single: true, nested: markets })},"markets":[]}`)
    : json(200, `{"event":${eventJson(event, { single: true })},"markets":[${markets.join(',')}]}`);
}

const image = (ticker: string): string => `https://images.example.com/${ticker}.webp`;

function eventMetadata(call: Call): SimReply {
  const { spec, markets } = eventOf(call);
  const { productMetadata } = spec.series;
  return ok({
    image_url: image(spec.ticker),
    market_details: markets.map((market) => ({
      market_ticker: market.ticker,
      image_url: image(market.ticker),
      color_code: '#0a6b4f',
    })),
    settlement_sources: spec.series.sources ?? [],
    ...(productMetadata
      ? { competition: productMetadata.competition, competition_scope: productMetadata.competition_scope }
      : {}),
  });
}

/** All series in one reply; there is no paging. */
function listSeries(call: Call): SimReply {
  const category = call.query.get('category');
  const tags = commaList(call, 'tags');
  const include = { volume: flag(call, 'include_volume'), productMetadata: flag(call, 'include_product_metadata') };
  const shown = call.exchange.series.filter(
    (series) =>
      (!category || series.category === category) && (!tags || tags.some((tag) => series.tags?.includes(tag) ?? false)),
  );
  return ok({ series: shown.map((series) => seriesWire(call.exchange, series, include)) });
}

function oneSeries(call: Call): SimReply {
  const series = call.exchange.series.find((one) => one.ticker === call.params[0]);
  if (!series) throw notFound();
  const include = { volume: flag(call, 'include_volume'), productMetadata: true };
  return ok({ series: seriesWire(call.exchange, series, include) });
}

export const eventRoutes: readonly PublicRoute[] = [
  { method: 'GET', path: '/events', handle: listEvents },
  { method: 'GET', path: '/events/multivariate', handle: listCombos },
  { method: 'GET', path: '/events/{}/metadata', handle: eventMetadata },
  { method: 'GET', path: '/events/{}', handle: oneEvent },
  { method: 'GET', path: '/series', handle: listSeries },
  { method: 'GET', path: '/series/{}', handle: oneSeries },
];
