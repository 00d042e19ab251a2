import { createHash } from 'node:crypto';
import { hasBook, isClosed, type SimMarket, type SimTrade } from '../simulators/polymarket/world/model.ts';
import { upDownFigures } from '../simulators/polymarket/gamma/rows.ts';
import type { PolymarketWorld } from '../simulators/polymarket/world/world.ts';
import { barsOf } from './bars.ts';
import { bookSide, mirroredBook, type ServedBook } from './book.ts';
import { iso, rescale, toNumber } from './exact.ts';
import type { MarketTruth, ServedPoint, ServedTrade } from './pipeline.ts';
import { categoryOf, liquidityScoreOf, outcomeIdsOf, winnerOf } from './vocabulary.ts';

/** The world counts prices in 10^-10, shares and dollars in 10^-6. */
const ONE = 10_000_000_000n;
const price = (value: bigint): number => toNumber(value, 10);
const usd = (value: bigint): number => toNumber(value, 6);
const secondOf = (ms: number): string => iso(Math.floor(ms / 1000) * 1000);
const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;

/** The moment a row was read: by our clock, and by the world's. */
export interface Read {
  syncedMs: number;
  worldMs: number;
}

/** The first outcome's midpoint at a time; null before orders were taken. */
function midAt(market: SimMarket, trades: readonly SimTrade[], atMs: number): bigint | null {
  const last = trades.findLast(({ timestamp }) => timestamp * 1000 <= atMs);
  if (last) return last.midAfter;
  return atMs >= (market.acceptingFromMs ?? market.createdMs) ? market.openMid : null;
}

/** What the row prints as outcomePrices, in 10^-10. */
function printedPrices(world: PolymarketWorld, market: SimMarket, trades: readonly SimTrade[], read: Read): bigint[] {
  if (market.payouts) {
    // A scalar of 2021 prints eleven digits more than we keep.
    const tails = market.legacy?.marketType === 'scalar' ? [7_769_314_663n, 92_230_685_336n] : [];
    return market.payouts.map((payout, i) => rescale(payout * 10n ** 11n + (tails[i] ?? 0n), 21, 10));
  }
  const { answer } = market;
  if (answer !== null) return market.outcomes.map((_, i) => (i === answer ? ONE : 0n));
  const mid = world.book(market)?.mid() ?? midAt(market, trades, read.worldMs) ?? market.openMid;
  return [mid, ONE - mid];
}

const isVector = (prices: readonly bigint[]): boolean =>
  prices.every((one) => one === 0n || one === ONE / 2n || one === ONE) && prices.reduce((a, b) => a + b, 0n) === ONE;

/** Markets of protocol version 2 have no UMA state. */
const showsUma = (market: SimMarket): boolean => market.showsUma && market.version === 'v1';

const resolutionStatusOf = ({ state }: SimMarket): string =>
  state === 'resolved' ? 'resolved' : state === 'unopened' ? 'inactive' : 'active';

function statusOf(market: SimMarket, prices: readonly bigint[], read: Read): string {
  if (!isClosed(market)) return market.state;
  const isSettled =
    (showsUma(market) && market.uma.at(-1) === 'resolved' && !market.legacy) ||
    (market.version === 'v2' && market.state === 'resolved');
  const end = market.closedMs ?? (market.legacy ? market.endMs : Infinity);
  const isOpenToOracle = market.version === 'v2' || (market.payouts === null && market.uma.length > 0);
  const old = end < read.syncedMs - MONTH_MS && !isOpenToOracle;
  // Until the result is there, halves may be a midpoint, and others the oracle's answer.
  const isPaid =
    isVector(prices) && (market.payouts !== null || (market.answer === null && !prices.includes(ONE / 2n)));
  return isSettled || isPaid || old ? 'settled' : 'closed';
}

/** What a share paid: as printed, or where those are no payouts as the oracle reported it. */
const payoutsOf = (market: SimMarket, prices: readonly bigint[]): readonly bigint[] | null =>
  isVector(prices) ? prices : (market.legacy?.reported ?? null);

/** The smallest fill that any feed shows is of 0.01 shares. */
const shownTrades = (world: PolymarketWorld, market: SimMarket): SimTrade[] =>
  world.trades(market).filter(({ size }) => size >= 10_000n);

const isWhole = (prices: readonly bigint[]): boolean => prices.reduce((a, b) => a + b, 0n) === ONE;

interface Quote {
  price: number | null;
  bid: number | null;
  ask: number | null;
}

function quotesOf(
  world: PolymarketWorld,
  market: SimMarket,
  row: { status: string; prices: readonly bigint[]; trades: readonly SimTrade[] },
): Quote[] {
  const { status, prices, trades } = row;
  if (status === 'settled') {
    const payouts = payoutsOf(market, prices);
    return market.outcomes.map((_, i) => ({ price: payouts ? price(payouts[i] ?? 0n) : null, bid: null, ask: null }));
  }
  const book = status === 'closed' ? null : world.book(market);
  const bid = book?.best('bid') ?? null;
  const ask = book?.best('ask') ?? null;
  const last = lastPrice(trades);
  const middle = bid !== null && ask !== null ? rescale((bid + ask) * 5n, 1, 0) : null;
  // A row of an order book always prints an ask, 1 where there is none: its outcomePrices is no middle then.
  const shown = last ?? middle;
  return [
    { price: orNull(shown), bid: orNull(bid), ask: orNull(ask) },
    { price: otherOf(shown), bid: otherOf(ask), ask: otherOf(bid) },
  ];
}

const orNull = (value: bigint | null): number | null => (value === null ? null : price(value));
const otherOf = (value: bigint | null): number | null => (value === null ? null : price(ONE - value));

/** The last match in terms of the first outcome. */
function lastPrice(trades: readonly SimTrade[]): bigint | null {
  const fill = trades.at(-1)?.fills.at(-1);
  return fill ? (fill.outcome === 0 ? fill.price : ONE - fill.price) : null;
}

function windowVolume(trades: readonly SimTrade[], read: Read, windowMs: number): number | null {
  const total = trades
    .filter(({ timestamp }) => timestamp * 1000 > read.worldMs - windowMs)
    .reduce((sum, { notional }) => sum + notional, 0n);
  // Gamma leaves out a window in which nothing was traded: unknown, not zero.
  return total === 0n ? null : usd(total);
}

/** Change of the midpoint, to six places, by outcome; {} when Gamma leaves it out. */
function change(
  world: PolymarketWorld,
  market: SimMarket,
  trades: readonly SimTrade[],
  read: Read,
  windowMs: number,
): Record<string, number> {
  const [first = '', second = ''] = outcomeIdsOf(market.outcomes);
  if (market.legacy) return market.outcomes.length > 2 ? { [first]: 0 } : { [first]: 0, [second]: 0 };
  const endMs = market.closedMs ?? read.worldMs;
  const before = midAt(market, trades, endMs - windowMs);
  const after = isClosed(market)
    ? midAt(market, trades, endMs)
    : (world.book(market)?.mid() ?? midAt(market, trades, read.worldMs) ?? market.openMid);
  if (before === null || after === null || before === after) return {};
  const moved = rescale(after - before, 10, 6);
  return { [first]: usd(moved), [second]: usd(-moved) };
}

const collateral = (at: bigint, left: bigint): bigint => rescale(at * left, 16, 6);

function atRest(world: PolymarketWorld, market: SimMarket): bigint {
  const book = world.book(market);
  if (!book) return 0n;
  return [
    ...book.side('bid').map((order) => collateral(order.price, order.left)),
    ...book.side('ask').map((order) => collateral(ONE - order.price, order.left)),
  ].reduce((total, one) => total + one, 0n);
}

/** Category and the word behind it: hidden tags name categories, but are not shown. */
function classification(market: SimMarket): { category: string; subcategory: string | null; tags: string[] } {
  const { tags, sport } = market.event;
  const telling = tags.filter(({ label }) => label !== 'All');
  const words =
    telling.length > 0
      ? telling.map(({ label, slug, forceHide }) => ({ label, slug, hidden: forceHide === true }))
      : market.legacy
        ? [{ label: market.legacy.category, slug: market.legacy.category, hidden: false }]
        : [];
  const found = categoryOf(words.map(({ slug }) => slug));
  const at = found?.at ?? words.findIndex(({ hidden }) => !hidden);
  const category = found?.name ?? words[at]?.label ?? '';
  const next = words.slice(at + 1).find(({ slug, hidden }) => !hidden && categoryOf([slug])?.name !== category);
  const subcategory = category === 'Sports' && sport ? sport.name : (next?.label ?? null);
  return { category, subcategory, tags: tags.map(({ label }) => label) };
}

function competitive(mid: bigint): number {
  const away = mid - ONE / 2n;
  return price(rescale((ONE ** 3n * 10n ** 12n) / (ONE * ONE + away * away), 12, 0));
}

function strikeOf(world: PolymarketWorld, { line, legacy, event }: SimMarket): object {
  const figures = upDownFigures(world, event);
  const strike = {
    ...(line === null ? {} : { line: Number(line) }),
    ...(legacy?.bounds ? { floor: Number(legacy.bounds[0]), cap: Number(legacy.bounds[1]) } : {}),
    ...(figures ? { open_price: figures['priceToBeat'], final_price: figures['finalPrice'] } : {}),
  };
  return Object.keys(strike).length > 0 ? { strike } : {};
}

/** When the oracle expects to settle what has closed without a final result. */
function pendingOf({ state, version, uma, closedMs }: SimMarket): object {
  if (state !== 'closed' || version === 'v2' || uma.length === 0 || closedMs === null) return {};
  return { expected_settlement_time: secondOf(closedMs + 7_200_000), settlement_time_basis: 'liveness' };
}

/** Starts of the game or window, and the delay of orders in a game. */
function timesOf({ eventStartMs, gameStartMs, secondsDelay, event, legacy }: SimMarket): object {
  const eventStart = (legacy ? null : eventStartMs) ?? event.startTimeMs;
  return {
    event_start_time: eventStart === null ? undefined : secondOf(eventStart),
    game_start_time: gameStartMs === null ? undefined : secondOf(gameStartMs),
    seconds_delay: secondsDelay || undefined,
  };
}

function metadataOf(
  world: PolymarketWorld,
  market: SimMarket,
  row: {
    status: string;
    prices: readonly bigint[];
    trades: readonly SimTrade[];
    read: Read;
    openInterest: number | null;
  },
): Record<string, unknown> {
  const { status, prices, trades, read, openInterest } = row;
  const { event, legacy, fee } = market;
  const ids = outcomeIdsOf(market.outcomes);
  const named = (values: readonly unknown[]) => Object.fromEntries(ids.map((id, i) => [id, values[i]]));
  const payouts = status === 'settled' ? payoutsOf(market, prices) : null;
  const last = lastPrice(trades);
  const book = world.book(market);
  const oldest = shownTrades(world, market)[0];
  return {
    volume_basis: 'usd',
    liquidity_basis: 'full_book',
    token_ids: market.tokenIds.length > 0 ? named(market.tokenIds) : {},
    condition_id: market.conditionId,
    collateral: 'pUSD',
    ...(openInterest === null ? {} : { open_interest_basis: 'usd' }),
    ...(event.series ? { series_slug: event.series.slug } : {}),
    ...strikeOf(world, market),
    ...timesOf(market),
    ...(legacy
      ? { fee: { enabled: false }, competitive: 0, volume_30d: 0, volume_1y: 0 }
      : {
          tick_size: price(market.tick),
          min_order_size: usd(market.minSize),
          seconds_delay: market.secondsDelay || undefined,
          group_item_title: market.groupItemTitle ?? undefined,
          group_item_threshold: String(event.markets.indexOf(market)),
          neg_risk: event.negRisk,
          neg_risk_market_id: event.negRisk ? event.negRiskMarketId : undefined,
          neg_risk_other: market.negRiskOther ? true : undefined,
          rewards_min_size: 20,
          fee: fee
            ? {
                enabled: true,
                exponent: fee.exponent,
                rate: fee.rateBps / 10_000,
                takerOnly: true,
                rebateRate: fee.rebateBps / 10_000,
              }
            : { enabled: false },
          version: market.version,
          uma_resolution_status: (showsUma(market) && market.uma.at(-1)) || undefined,
          ...pendingOf(market),
          resolution_status: market.version === 'v2' ? resolutionStatusOf(market) : undefined,
          accepting_orders: market.state === 'open' || (market.acceptingWhenClosed && isClosed(market)),
          competitive: book ? competitive(book.mid()) : undefined,
          volume_30d: windowVolume(trades, read, MONTH_MS) ?? undefined,
          volume_1y: windowVolume(trades, read, 365 * DAY_MS) ?? undefined,
        }),
    ...(payouts ? { payouts: named(payouts.map(price)) } : {}),
    ...(status === 'settled' && !payouts && isWhole(prices) ? { last_prices: named(prices.map(price)) } : {}),
    ...(status === 'settled' && last !== null ? { last_trade_price: price(last) } : {}),
    ...(oldest ? { unique_traders_since: iso(oldest.timestamp * 1000) } : {}),
  };
}

/** What the service must say of a market. Open interest comes from elsewhere than the row: null until it was read. */
export function polymarketMarket(
  world: PolymarketWorld,
  market: SimMarket,
  read: Read,
  openInterest: number | null,
): MarketTruth {
  const { event, legacy } = market;
  const trades = world.trades(market);
  const shown = shownTrades(world, market);
  const prices = printedPrices(world, market, trades, read);
  const status = statusOf(market, prices, read);
  const ids = outcomeIdsOf(market.outcomes);
  const quotes = quotesOf(world, market, { status, prices, trades });
  const closed = market.closedMs === null ? null : secondOf(market.closedMs);
  const hasUmaEnd = ['resolved', 'disputed'].includes(market.uma.at(-1) ?? '');
  const umaEnd = showsUma(market) && !legacy && hasUmaEnd ? closed : null;
  const liquidity = legacy ? 4.601742 : usd(atRest(world, market));
  const volume = (windowMs: number) => (legacy ? 0 : windowVolume(trades, read, windowMs));
  const accepting = legacy ? null : market.acceptingFromMs;
  return {
    id: `polymarket:${market.id}`,
    platform: 'polymarket',
    platform_id: market.id,
    title: market.question,
    outcome_name: market.groupItemTitle || null,
    status,
    market_type: market.outcomes.length > 2 ? 'multiple_choice' : legacy?.marketType === 'scalar' ? 'scalar' : 'binary',
    outcomes: ids.map((id, i) => ({ id, name: market.outcomes[i] ?? '' })),
    current_prices: Object.fromEntries(ids.map((id, i) => [id, quotes[i] as Quote])),
    winning_outcome:
      status === 'settled' ? winnerOf(market.outcomes, (payoutsOf(market, prices) ?? []).map(price)) : null,
    event_id: event.id,
    event_name: event.title,
    series_id: event.series?.id ?? '',
    slug: market.slug,
    description: market.description,
    ...classification(market),
    volume_24h: volume(DAY_MS),
    volume_7d: volume(7 * DAY_MS),
    volume_total: legacy ? usd(legacy.volume) : market.volume === 0n ? null : usd(market.volume),
    liquidity,
    liquidity_score: liquidityScoreOf(liquidity),
    open_interest: openInterest,
    unique_traders: shown.length > 0 ? new Set(shown.map(({ wallet }) => wallet.address)).size : null,
    source_url: `https://polymarket.com/event/${event.slug}/${market.slug}`,
    image_url: `https://images.example.org/${event.slug}.png`,
    created_at: iso(market.createdMs),
    trading_start_at: accepting === null ? iso(market.createdMs) : secondOf(accepting),
    trading_end_at: closed ?? secondOf(market.endMs),
    resolution_date: umaEnd ?? secondOf(market.endMs),
    resolved_at: status === 'settled' ? closed : null,
    resolution_criteria: market.description,
    resolution_source: event.resolutionSource,
    price_24h_changes: change(world, market, trades, read, DAY_MS),
    price_7d_changes: change(world, market, trades, read, 7 * DAY_MS),
    metadata: metadataOf(world, market, { status, prices, trades, read, openInterest }),
  };
}

/** What everybody holds of a market, in dollars. */
export const openInterestOf = (market: SimMarket): number => usd(market.sets);

const decimal = (value: bigint): string => String(toNumber(value, 6));

/** Fills of a market with their ids: the transaction, the token's tail, a digest, and a number where rows are alike. */
export function identified<Fill extends Omit<SimTrade, 'fills'>>(
  market: SimMarket,
  trades: readonly Fill[],
): { id: string; trade: Fill }[] {
  const seen = new Map<string, number>();
  return trades.map((trade) => {
    const facts = [trade.wallet.address, trade.side, decimal(rescale(trade.price, 10, 6)), decimal(trade.size)].join(
      '|',
    );
    const digest = createHash('sha256').update(facts).digest('hex').slice(0, 8);
    const id = `${trade.transactionHash}-${(market.tokenIds[trade.outcome] ?? '').slice(-8)}-${digest}`;
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return { id: count === 1 ? id : `${id}.${count}`, trade };
  });
}

/** Every taker trade of a market, newest first, as GET markets/trades must give it. */
export const polymarketTrades = (world: PolymarketWorld, market: SimMarket): ServedTrade[] =>
  identified(market, shownTrades(world, market))
    .toSorted((a, b) => b.trade.timestamp - a.trade.timestamp || (a.id < b.id ? 1 : -1))
    .map(({ id, trade }) => ({
      trade_id: id,
      market_id: market.id,
      platform: 'polymarket',
      side: trade.side === 'BUY' ? 'buy' : 'sell',
      outcome: outcomeIdsOf(market.outcomes)[trade.outcome] ?? '',
      transaction_hash: trade.transactionHash,
      price: price(trade.price),
      size: usd(trade.size),
      timestamp: trade.timestamp,
      taker: true,
      user: {
        name: trade.wallet.name,
        pseudonym: trade.wallet.pseudonym,
        profile_image: trade.wallet.profileImage,
      },
      metadata: {
        token_id: market.tokenIds[trade.outcome],
        condition_id: market.conditionId,
        wallet: trade.wallet.address,
        event_slug: market.event.slug,
        executed_at: iso(trade.timestamp * 1000),
      },
    }));

/** Price history of a span in which all trades are stored. */
export const polymarketHistory = (
  world: PolymarketWorld,
  market: SimMarket,
  span: { fromTs: number; toTs: number; stepMin: number },
): ServedPoint[] =>
  barsOf(
    identified(market, shownTrades(world, market)).map(({ id, trade }) => ({
      atMs: trade.timestamp * 1000,
      id,
      price: trade.outcome === 0 ? trade.price : ONE - trade.price,
      size: trade.size,
    })),
    { platform: 'polymarket', marketId: market.id, outcomeId: outcomeIdsOf(market.outcomes)[0] ?? '' },
    span,
    { price: 10, size: 6 },
  );

/** The live book of both tokens. */
export function polymarketBook(world: PolymarketWorld, market: SimMarket): ServedBook {
  const book = hasBook(market) ? world.book(market) : null;
  const facts = { min_order_size: usd(market.minSize), tick_size: price(market.tick), neg_risk: market.event.negRisk };
  const none = bookSide([], [], { price: 10, size: 6 });
  if (!book) return { yes: none, no: none, metadata: facts };
  return { ...mirroredBook(book.levels('bid'), book.levels('ask'), { price: 10, size: 6 }), metadata: facts };
}
