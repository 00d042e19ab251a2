import { createHash } from 'node:crypto';
import type { AmmMarket, ClobMarket, Market, Trade } from '../simulators/limitless/model.ts';
import type { LimitlessWorld } from '../simulators/limitless/world.ts';
import { barsOf } from './bars.ts';
import { mirroredBook, type ServedBook } from './book.ts';
import { iso, rescale, sum, toNumber } from './exact.ts';
import type { MarketTruth, ServedPoint } from './pipeline.ts';
import { categoryOf, liquidityScoreOf, winnerOf } from './vocabulary.ts';

/** The world counts order prices in 0.001, trade prices in 0.000001, shares and USDC in base units of 0.000001. */
const ticks = (tick: number): number => toNumber(tick, 3);
const base = (units: bigint): number => toNumber(units, 6);
const DAY_MS = 86_400_000;
const ONE = 1_000_000n;

function statusOf(market: Market, worldMs: number): string {
  const word = market.status.replace('MarketStatus.', '');
  const over = worldMs >= market.expiresAt;
  if (word === 'RESOLVED') return 'settled';
  if (word === 'CREATED' || word === 'DRAFT') return 'unopened';
  if (word === 'LOCKED') return over ? 'closed' : 'paused';
  return word.startsWith('FUNDED') && !over ? 'open' : 'closed';
}

const funded = (market: Market): boolean => market.status.includes('FUNDED');

/** Markets that the listing shows now: everything tradable, and all children of a group of which one can be traded. */
export function listedMarkets(world: LimitlessWorld): Market[] {
  world.advance();
  const now = world.clock.now();
  const single = [...world.markets.values()].filter(
    (market) => !(market.kind === 'clob' && market.group) && !market.hidden && funded(market) && now < market.expiresAt,
  );
  const groups = [...world.groups.values()].filter((group) => group.children.some(funded) && now < group.expiresAt);
  return [...single, ...groups.flatMap((group) => group.children)];
}

/** A trade and its id: a digest of what identifies it, and of how many equal ones came before it in its transaction. */
function identified(market: ClobMarket, trades: readonly Trade[]): { id: string; trade: Trade }[] {
  const seen = new Map<string, number>();
  // Equal rows are counted as a reader meets them: newest first.
  return trades.toReversed().map((trade) => {
    const price = String(toNumber(trade.price, 6));
    const parts = [
      trade.txHash.toLowerCase(),
      market.tokens[trade.outcome],
      trade.side === 'BUY' ? 0 : 1,
      price,
      trade.size,
      iso(trade.at),
    ];
    const text = parts.join('|');
    const k = seen.get(text) ?? 0;
    seen.set(text, k + 1);
    return { id: createHash('sha256').update(`${text}|${k}`).digest('hex').slice(0, 32), trade };
  });
}

/** A market's trades newest first, ties by id. */
const ordered = (world: LimitlessWorld, market: ClobMarket) =>
  identified(market, world.tape(market)).toSorted((a, b) => b.trade.at - a.trade.at || (a.id < b.id ? 1 : -1));

const inYes = ({ outcome, price }: Trade): bigint => (outcome === 0 ? price : ONE - price);
const price6 = (price: bigint): number => toNumber(price, 6);

interface Quote {
  price: number | null;
  bid: number | null;
  ask: number | null;
}
const NOTHING: Quote = { price: null, bid: null, ask: null };

function quotesOf(world: LimitlessWorld, market: ClobMarket, status: string): { yes: Quote; no: Quote } {
  if (status === 'unopened') return { yes: NOTHING, no: NOTHING };
  if (status === 'settled') return payoutQuotes(market);
  const { bestBid, bestAsk } = market.book;
  const newest = ordered(world, market)[0];
  // A midpoint lies on half a tick.
  const quoted = status === 'open' || status === 'paused';
  const middle = !quoted || bestBid === null || bestAsk === null ? null : BigInt(bestBid + bestAsk) * 500n;
  const price = newest ? inYes(newest.trade) : middle;
  const bid = quoted ? bestBid : null;
  const ask = quoted ? bestAsk : null;
  return {
    yes: {
      price: price === null ? null : price6(price),
      bid: bid === null ? null : ticks(bid),
      ask: ask === null ? null : ticks(ask),
    },
    no: {
      price: price === null ? null : price6(ONE - price),
      bid: ask === null ? null : ticks(1000 - ask),
      ask: bid === null ? null : ticks(1000 - bid),
    },
  };
}

function payoutQuotes(market: Market): { yes: Quote; no: Quote } {
  const [yes, no] = payouts(market) ?? [null, null];
  return { yes: { ...NOTHING, price: yes }, no: { ...NOTHING, price: no } };
}

function payouts(market: Market): [number, number] | null {
  if (market.payoutNumerators) {
    const [yes, no] = market.payoutNumerators;
    return [yes / (yes + no), no / (yes + no)];
  }
  if (market.winningOutcome === null) return null;
  return market.winningOutcome === 0 ? [1, 0] : [0, 1];
}

function plainText(html: string): string {
  return html
    .replaceAll(/<\/p>|<br>/g, '\n')
    .replaceAll(/<[a-z/][^>]*>/g, '')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

/** What is reported of order-book markets and pools alike. */
function common(market: Market, status: string) {
  const group = market.kind === 'clob' ? market.group : null;
  const domain = market.kind === 'clob' ? market.propertyDomain : null;
  // Markets that recur are filed under their period too.
  const categories = market.categories.filter((word) => !/^(Minutely|Monthly|\d+ min)$/.test(word));
  const listed = categoryOf(categories);
  const found = (domain === null ? null : categoryOf([domain])) ?? listed;
  const at = found === null ? 0 : listed?.name === found.name ? listed.at : -1;
  const description = plainText(market.description);
  const payout = payouts(market);
  const page = group?.slug ?? market.slug;
  return {
    id: `limitless:${market.slug}`,
    platform: 'limitless' as const,
    platform_id: market.slug,
    title: !group
      ? market.title
      : /__/.test(group.title)
        ? group.title.replace(/_+/, market.title)
        : `${group.title}: ${market.title}`,
    outcome_name: group ? market.title : null,
    status,
    market_type: 'binary',
    outcomes: [
      { id: 'yes', name: 'Yes' },
      { id: 'no', name: 'No' },
    ],
    winning_outcome: status === 'settled' ? winnerOf(['Yes', 'No'], payout ?? []) : null,
    event_id: group?.slug ?? '',
    event_name: group?.title ?? '',
    slug: market.slug,
    description,
    category: found?.name ?? categories[0] ?? '',
    subcategory: categories[at + 1] ?? null,
    tags: [...new Set([...(market.kind === 'amm' && market.isOldForm ? [] : market.categories), ...market.tags])],
    source_url: `https://limitless.exchange/markets/${page}`,
    created_at: iso(market.createdAt),
    trading_start_at: iso(market.startAt ?? market.createdAt),
    trading_end_at: iso(market.expiresAt),
    resolution_date: iso(market.expiresAt),
    resolved_at: status === 'settled' ? iso(market.updatedAt) : null,
    resolution_criteria: description,
    price_24h_changes: {},
    price_7d_changes: {},
    metadata: {
      token_ids: { yes: market.tokens[0], no: market.tokens[1] },
      condition_id: market.conditionId,
      tick_size: 0.001,
      collateral: market.collateral.symbol,
      ...(market.winningOutcome === null ? {} : { result: market.winningOutcome === 0 ? 'yes' : 'no' }),
      ...(status !== 'settled' ? {} : { payouts: payout === null ? {} : { yes: payout[0], no: payout[1] } }),
    },
  };
}

/** What the service must say of a market whose row was read at `syncedMs`, when the platform's clock showed `worldMs`. */
export function limitlessMarket(
  world: LimitlessWorld,
  market: Market,
  read: { syncedMs: number; worldMs: number },
): MarketTruth {
  return market.kind === 'amm' ? pool(market, read) : orderBookMarket(world, market, read);
}

/** Σ price × size over the best level of each side: what lies there as collateral. */
function atRest({ book }: ClobMarket): number {
  const [bid] = book.bids;
  const [ask] = book.asks;
  const bids = bid ? BigInt(bid.tick) * bid.size : 0n;
  const asks = ask ? BigInt(1000 - ask.tick) * ask.size : 0n;
  return base(rescale(bids + asks, 9, 6));
}

function orderBookMarket(
  world: LimitlessWorld,
  market: ClobMarket,
  { syncedMs, worldMs }: { syncedMs: number; worldMs: number },
): MarketTruth {
  const status = statusOf(market, worldMs);
  const shared = common(market, status);
  const trades = ordered(world, market);
  const oldest = trades.at(-1);
  const traded = (windowMs: number): number =>
    base(
      market.createdAt > syncedMs - windowMs
        ? market.volume
        : sum(trades.filter(({ trade }) => trade.at >= syncedMs - windowMs).map(({ trade }) => trade.usd)),
    );
  const quotes = quotesOf(world, market, status);
  const { bestBid, bestAsk } = market.book;
  const quoted = status === 'open' || status === 'paused';
  const wide = quoted && bestBid !== null && bestAsk !== null && bestAsk - bestBid > 200;
  const liquidity = quoted ? atRest(market) : 0;
  const open = Number(market.metadata['openPrice'] ?? Number.NaN);
  return {
    ...shared,
    current_prices: quotes,
    series_id: market.series?.stableSlug ?? '',
    volume_24h: traded(DAY_MS),
    volume_7d: traded(7 * DAY_MS),
    volume_total: base(market.volume),
    liquidity,
    liquidity_score: liquidityScoreOf(liquidity),
    open_interest: null,
    unique_traders: oldest ? new Set(trades.map(({ trade }) => trade.account.address)).size : null,
    image_url: `https://cdn.limitless.exchange/markets-logo/${market.id}/logo.png`,
    resolution_source: market.series
      ? `https://data.chain.link/streams/${market.series.symbol.toLowerCase()}-usd-cexprice-streams`
      : '',
    metadata: {
      ...shared.metadata,
      volume_basis: 'usd',
      liquidity_basis: quoted ? 'best_level' : 'none',
      neg_risk: market.negRiskRequestId !== null,
      fee: { enabled: market.chargesFees, taker_delay_ms: market.takerDelayMs },
      rewards_min_size: base(market.rewardMinSize),
      ...(market.group ? { group_item_title: market.title, order_in_group: market.orderInGroup } : {}),
      ...(Number.isFinite(open) ? { strike: { open_price: open } } : {}),
      ...(market.series ? { oracle: { symbol: `${market.series.symbol}/USD` } } : {}),
      ...(wide ? { wide_book: true } : {}),
      ...(status === 'settled' && trades[0] ? { last_trade_price: price6(inYes(trades[0].trade)) } : {}),
      ...(oldest ? { unique_traders_since: iso(oldest.trade.at) } : {}),
    },
  };
}

const percent = (value: number): Quote => ({ ...NOTHING, price: toNumber(value, 4) });

/** A pool has no book, prices in percent, and open interest; its trades are on another feed. */
function pool(market: AmmMarket, { syncedMs, worldMs }: { syncedMs: number; worldMs: number }) {
  const status = statusOf(market, worldMs);
  const shared = common(market, status);
  const { decimals, symbol } = market.collateral;
  const usd = (units: bigint): number | null => (symbol === 'USDC' ? base(rescale(units, decimals, 6)) : null);
  const total = usd(market.volume);
  const quotes =
    status === 'settled'
      ? payoutQuotes(market)
      : { yes: percent(market.yesPercent), no: percent(10_000 - market.yesPercent) };
  const traded = (windowMs: number) => (market.createdAt > syncedMs - windowMs || total === 0 ? total : null);
  const liquidity = usd(market.liquidity) ?? (status === 'open' || status === 'paused' ? null : 0);
  return {
    ...shared,
    current_prices: quotes,
    series_id: '',
    volume_24h: traded(DAY_MS),
    volume_7d: traded(7 * DAY_MS),
    volume_total: total,
    liquidity,
    liquidity_score: liquidity === null ? null : liquidityScoreOf(liquidity),
    open_interest: usd(market.openInterest),
    unique_traders: null,
    image_url: '',
    resolution_source: '',
    metadata: {
      ...shared.metadata,
      volume_basis: symbol === 'USDC' ? 'usd' : 'raw',
      liquidity_basis: symbol === 'USDC' ? 'amm' : 'none',
      ...(symbol === 'USDC' ? { open_interest_basis: 'usd' } : {}),
      trade_type: 'amm',
      address: market.address,
      neg_risk: false,
      fee: {},
      ...(decimals === 6 ? {} : { collateral_decimals: decimals }),
      ...(symbol === 'USDC' ? {} : { volume_raw: String(market.volume) }),
    },
  };
}

/** A trade as GET trades/whales shows it. */
export interface ServedWhale {
  trade_id: string;
  market_id: string;
  platform: string;
  market_title: string;
  outcome_name: string | null;
  side: string;
  outcome: string;
  price: number;
  size: number;
  notional_value: number;
  timestamp: number;
  transaction_hash: string;
  trader: { address: string; name: string; pseudonym: string; profile_image: string };
  metadata: { executed_at: string };
}

/** Every public trade of a market; Limitless trades are shown among the whales. */
export function limitlessTrades(world: LimitlessWorld, market: ClobMarket): ServedWhale[] {
  const { title, outcome_name } = common(market, '');
  return ordered(world, market).map(({ id, trade }) => ({
    trade_id: id,
    market_id: market.slug,
    platform: 'limitless',
    market_title: title,
    outcome_name,
    side: trade.side === 'BUY' ? 'buy' : 'sell',
    outcome: trade.outcome === 0 ? 'yes' : 'no',
    price: price6(trade.price),
    size: base(trade.size),
    notional_value: base(rescale(trade.price * trade.size, 12, 6)),
    timestamp: Math.floor(trade.at / 1000),
    transaction_hash: trade.txHash.toLowerCase(),
    trader: {
      address: trade.account.address,
      name: trade.account.isPublic ? trade.account.displayName : '',
      pseudonym: (trade.account.isPublic ? trade.account.username : null) ?? '',
      profile_image: '',
    },
    metadata: { executed_at: iso(trade.at) },
  }));
}

/** Price history of a span in which all trades are stored. */
export const limitlessHistory = (
  world: LimitlessWorld,
  market: ClobMarket,
  span: { fromTs: number; toTs: number; stepMin: number },
): ServedPoint[] =>
  barsOf(
    ordered(world, market).map(({ id, trade }) => ({ atMs: trade.at, id, price: inYes(trade), size: trade.size })),
    { platform: 'limitless', marketId: market.slug, outcomeId: 'yes' },
    span,
    { price: 6, size: 6 },
  );

/** The live book in both outcomes' terms; markets that do not trade and pools have an empty one. */
export function limitlessBook(market: Market, worldMs: number): ServedBook {
  const open = market.kind === 'clob' && statusOf(market, worldMs) === 'open';
  const levels = (side: 'bids' | 'asks') =>
    open ? market.book[side].map(({ tick, size }) => ({ price: BigInt(tick), size })) : [];
  return {
    ...mirroredBook(levels('bids'), levels('asks'), { price: 3, size: 6 }),
    metadata: {
      min_order_size: null,
      tick_size: 0.001,
      neg_risk: market.kind === 'clob' && market.negRiskRequestId !== null,
    },
  };
}
