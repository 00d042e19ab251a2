import { DAY_MS } from '../../core/time.ts';
import { type Price, priceText, sizeText, type Usd, usdText } from '../../core/decimal.ts';
import {
  type CandleRecord,
  type EventRecord,
  type MarketInfo,
  type MarketRecord,
  type MarketState,
  type SeriesRecord,
  seriesOf,
  takerOf,
  type TradeRecord,
} from '../../core/model.ts';
import { TX_ID } from '../../core/text.ts';

/**
 * Records as the store's rows (JSONEachRow): decimals and times as text, hex as text that ClickHouse unpacks. Columns are listed, because
 * an insert ignores EPHEMERAL columns that it does not list.
 */
export const TRADE_COLUMNS =
  'trades (platform, ref, executed_at, trade_order, id_form, id_text, tx_text, outcome, outcome_index, series, side, price, size, quote_usd, trader_text, is_block)';
export const STATE_COLUMNS =
  'market_state (platform, ref, status, category, category_slug, event_id, resolved_at, prices, bids, asks, volume_24h, volume_7d, volume_30d, volume_1y, volume_total, liquidity, best_level, open_interest, price_change_24h, price_change_7d, trading_start_at, trading_end_at, created_at, first_seen_at, metadata, is_placeholder, is_combo, sent_info, sent_state, synced_at)';
export const MARKET_SNAPSHOT_COLUMNS =
  'market_snapshots (platform, ref, at, status, price, bid, ask, volume_24h, volume_total, open_interest, liquidity, liquidity_known, trading_end_at)';
export const RAW_COLUMNS = 'market_raw (platform, ref, raw, version)';
export const CANDLE_COLUMNS =
  'platform_candles (platform, ref, interval_min, t, open, high, low, close, previous_close, mean, bid_open, bid_high, bid_low, bid_close, ask_open, ask_high, ask_low, ask_close, volume, open_interest, source)';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HEX32 = /^[0-9a-f]{32}$/;

/** The form in which a trade id is stored, and `order`: 64 bits that sort like its text. */
export function packTradeId(trade: Pick<TradeRecord, 'tradeId' | 'transactionHash'>): {
  form: 'text' | 'uuid' | 'hex' | 'tx';
  text: string;
  order: bigint;
} {
  const { tradeId } = trade;
  if (UUID.test(tradeId)) {
    const first = `0x${tradeId.slice(0, 8)}${tradeId.slice(9, 13)}${tradeId.slice(14, 18)}`;
    return { form: 'uuid', text: tradeId, order: BigInt(first) };
  }
  if (HEX32.test(tradeId)) return { form: 'hex', text: tradeId, order: BigInt(`0x${tradeId.slice(0, 16)}`) };
  const tx = TX_ID.exec(tradeId);
  if (tx && tx[1] === trade.transactionHash)
    return { form: 'tx', text: tx[2] ?? '', order: transactionOrder(tx[1], tx[2] ?? '') };
  const bytes = Buffer.alloc(8);
  bytes.write(tradeId, 'utf8');
  return { form: 'text', text: tradeId, order: bytes.readBigUInt64BE() };
}

/**
 * The order of a trade within its block, whose trades have the same second: 24 bits of the transaction's hash, 27 bits of the token's
 * eight digits, 13 bits of the fingerprint.
 */
function transactionOrder(hash: string, suffix: string): bigint {
  const [digits = '', fingerprint = ''] = suffix.split('-');
  const token = /^\d{1,8}$/.test(digits) ? BigInt(digits) : 0n;
  const fingerprintBits = /^[0-9a-f]{8}/.test(fingerprint) ? BigInt(`0x${fingerprint.slice(0, 8)}`) >> 19n : 0n;
  return (BigInt(hash.slice(0, 8)) << 40n) | (token << 13n) | fingerprintBits;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
let shownDay = Number.NaN;
let shownDate = '';

/** `2026-01-06 23:09:09.123456`, a ClickHouse DateTime64(6). Optimized for neighbouring rows of the same day. */
export function microsecondText(us: number): string {
  const second = Math.floor(us / 1e6);
  const day = Math.floor(second / 86_400);
  if (day !== shownDay) {
    shownDate = new Date(day * DAY_MS).toISOString().slice(0, 10);
    shownDay = day;
  }
  const time = second - day * 86_400;
  const hour = TWO_DIGITS[Math.floor(time / 3600)];
  const minute = TWO_DIGITS[Math.floor(time / 60) % 60];
  return `${shownDate} ${hour}:${minute}:${TWO_DIGITS[time % 60]}.${String(us - second * 1e6).padStart(6, '0')}`;
}

const price = (value: Price | null): string | null => (value === null ? null : priceText(value));
const usd = (value: Usd | null): string | null => (value === null ? null : usdText(value));

/** One line of JSONEachRow for TRADE_COLUMNS; built by hand, because it runs a million times. */
export function tradeLine(trade: TradeRecord): string {
  const id = packTradeId(trade);
  const quote = trade.quoteUsd === null ? 'null' : `"${usdText(trade.quoteUsd)}"`;
  return (
    `{"platform":"${trade.platform}","ref":${JSON.stringify(trade.ref)},"executed_at":"${microsecondText(trade.executedAtUs)}",` +
    `"trade_order":"${id.order}","id_form":"${id.form}","id_text":${JSON.stringify(id.text)},` +
    `"tx_text":${JSON.stringify(trade.transactionHash)},"outcome":${JSON.stringify(trade.outcome)},` +
    `"outcome_index":${trade.outcomeIndex},"series":${seriesOf(trade)},"side":"${trade.side}","price":"${priceText(trade.price)}",` +
    `"size":"${sizeText(trade.size)}","quote_usd":${quote},"trader_text":"${takerOf(trade)}","is_block":${trade.isBlockTrade}}`
  );
}

/** A row of `markets`. */
export function marketRow(info: MarketInfo, firstSeenAt: string, version: string): object {
  return {
    platform: info.platform,
    ref: info.ref,
    platform_id: info.platformId,
    slug: info.slug.toWellFormed(),
    title: info.title.toWellFormed(),
    market_type: info.marketType,
    outcome_ids: info.outcomes.map((outcome) => outcome.id),
    outcome_names: info.outcomes.map((outcome) => outcome.name.toWellFormed()),
    token_ids: info.outcomes.map((outcome) => outcome.tokenId),
    event_id: info.eventId,
    event_name: info.eventName.toWellFormed(),
    series_id: info.seriesId,
    description: info.description.toWellFormed(),
    category: info.category.toWellFormed(),
    category_slug: info.categorySlug,
    subcategory: info.subcategory?.toWellFormed() ?? null,
    tags: info.tags.map((tag) => tag.toWellFormed()),
    source_url: info.sourceUrl.toWellFormed(),
    image_url: info.imageUrl.toWellFormed(),
    created_at: info.createdAt,
    trading_start_at: info.tradingStartAt,
    trading_end_at: info.tradingEndAt,
    resolution_date: info.resolutionDate,
    resolution_criteria: info.resolutionCriteria.toWellFormed(),
    resolution_source: info.resolutionSource.toWellFormed(),
    metadata: JSON.stringify(info.metadata).toWellFormed(),
    first_seen_at: firstSeenAt,
    version,
  };
}

/** A row of `events`. */
export function eventRow(event: EventRecord, version: string): object {
  return {
    platform: event.platform,
    event_id: event.eventId,
    series_id: event.seriesId,
    slug: event.slug.toWellFormed(),
    title: event.title.toWellFormed(),
    category: event.category.toWellFormed(),
    category_slug: event.categorySlug,
    tags: event.tags.map((tag) => tag.toWellFormed()),
    mutually_exclusive: event.mutuallyExclusive,
    image_url: event.imageUrl.toWellFormed(),
    source_url: event.sourceUrl.toWellFormed(),
    market_ids: event.marketIds,
    version,
  };
}

/** A row of `series`. */
export const seriesRow = (series: SeriesRecord, version: string): object => ({
  platform: series.platform,
  series_id: series.seriesId,
  title: series.title.toWellFormed(),
  category: series.category.toWellFormed(),
  category_slug: series.categorySlug,
  frequency: series.frequency?.toWellFormed() ?? null,
  version,
});

/** Whether a market is a combination: it resolves by several other markets. */
export const isCombo = ({ metadata }: Pick<MarketInfo, 'metadata'>): boolean => metadata['is_combo'] === true;

/** A row of STATE_COLUMNS; `sent`: fingerprints of the record as its platform sent it. */
export function stateRow(
  { info, state }: Pick<MarketRecord, 'info' | 'state'>,
  sent: { info: bigint; state: bigint },
  firstSeenAt: string,
  syncedAt: string,
): object {
  return {
    platform: info.platform,
    ref: info.ref,
    status: state.status,
    category: info.category.toWellFormed(),
    category_slug: info.categorySlug,
    event_id: info.eventId,
    resolved_at: state.resolvedAt,
    prices: state.quotes.map((quote) => price(quote.price)),
    bids: state.quotes.map((quote) => price(quote.bid)),
    asks: state.quotes.map((quote) => price(quote.ask)),
    volume_24h: usd(state.volume24h),
    volume_7d: usd(state.volume7d),
    volume_30d: usd(state.volume30d),
    volume_1y: usd(state.volume1y),
    volume_total: usd(state.volumeTotal),
    liquidity: usdText(state.liquidity ?? 0n),
    best_level: usd(state.bestLevel ?? null),
    open_interest: usd(state.openInterest),
    price_change_24h: price(state.priceChange24h),
    price_change_7d: price(state.priceChange7d),
    trading_start_at: info.tradingStartAt,
    trading_end_at: info.tradingEndAt,
    // The sort key of listings, as shown in answers; a market's age depends on it only if no start is known.
    created_at: info.createdAt ?? (info.tradingStartAt === null ? null : firstSeenAt),
    first_seen_at: firstSeenAt,
    metadata: JSON.stringify(state.metadata).toWellFormed(),
    is_placeholder: info.metadata['neg_risk_other'] === true,
    is_combo: isCombo(info),
    sent_info: String(sent.info),
    sent_state: String(sent.state),
    synced_at: syncedAt,
  };
}

const OPEN: ReadonlySet<string> = new Set(['open', 'paused']);

/** A row of MARKET_SNAPSHOT_COLUMNS: the first outcome's quote and the totals. */
export function marketSnapshotRow(info: MarketInfo, state: MarketState, at: string): object {
  const first = state.quotes[0];
  return {
    platform: info.platform,
    ref: info.ref,
    at,
    status: state.status,
    price: price(first?.price ?? null),
    bid: price(first?.bid ?? null),
    ask: price(first?.ask ?? null),
    volume_24h: usd(state.volume24h),
    volume_total: usd(state.volumeTotal),
    open_interest: usd(state.openInterest),
    liquidity: usdText(state.liquidity ?? 0n),
    // As in market_state: the book of an open market was not read yet.
    liquidity_known: !(OPEN.has(state.status) && state.metadata['liquidity_basis'] === 'none'),
    trading_end_at: info.tradingEndAt,
  };
}

export const rawRow = (record: MarketRecord): object => ({
  platform: record.info.platform,
  ref: record.info.ref,
  raw: JSON.stringify(record.raw).toWellFormed(),
  version: record.fetchedAt,
});

/** A row of CANDLE_COLUMNS. */
export function candleRow(candle: CandleRecord): object {
  return {
    platform: candle.platform,
    ref: candle.ref,
    interval_min: candle.intervalMin,
    t: candle.startTs,
    open: price(candle.price.open),
    high: price(candle.price.high),
    low: price(candle.price.low),
    close: price(candle.price.close),
    previous_close: price(candle.previousClose),
    mean: price(candle.mean),
    bid_open: price(candle.bid.open),
    bid_high: price(candle.bid.high),
    bid_low: price(candle.bid.low),
    bid_close: price(candle.bid.close),
    ask_open: price(candle.ask.open),
    ask_high: price(candle.ask.high),
    ask_low: price(candle.ask.low),
    ask_close: price(candle.ask.close),
    volume: candle.volume === null ? null : sizeText(candle.volume),
    open_interest: usd(candle.openInterest),
    source: candle.source,
  };
}
