import { z } from 'zod';
import { MANIFESTS } from '../platforms/manifests.ts';
import { BUCKET_LAG_MS } from '../stores/clickhouse/windows.ts';
import { numberOfText } from '../core/decimal.ts';
import type { Platform } from '../core/model.ts';
import { complementNumber } from './market-rows.ts';
import { type StoredHistory, touchesGap } from '../markets/trade-history.ts';
import { type BarStores, candlesFor, type OwnBar, type OwnBars, ownBars, type OwnBarsQuery } from './bars-of-trades.ts';

const decimals = z.array(z.string().nullable());
const text = z.string().nullable();

const prices = { open: text, high: text, low: text, close: text };
const quotes = { bid: decimals, ask: decimals, open_interest: text };
/** A row of sql/queries/bars_of_platform.sql and of merged_bars_of_platform.sql. */
const PlatformRow = z.object({
  t: z.coerce.number(),
  ...prices,
  ...quotes,
  previous_close: text,
  volume: text,
  notional: text,
  source: z.string(),
});
const side = z.string().nullable();
const sides = z.tuple([side, side]);
/** A row of sql/queries/bars_of_quotes.sql: [bid, ask]. */
const QuoteRow = z
  .object({ t: z.coerce.number(), first: sides, high: sides, low: sides, last: sides, open_interest: text })
  .transform(({ t, first, high, low, last, open_interest }) => {
    const of = (index: 0 | 1) => [first, high, low, last].map((pair) => pair[index]);
    return { t, bid: of(0), ask: of(1), open_interest };
  });
/** What is known about one bucket. */
interface Sources {
  own?: OwnBar;
  platform?: z.infer<typeof PlatformRow>;
  snapshots?: z.infer<typeof QuoteRow>;
}

interface OhlcText {
  open: string | null;
  high: string | null;
  low: string | null;
  close: string | null;
}

/** One bucket of a market, in terms of its first outcome; decimals as text, null if unknown. */
export interface Bar {
  startTs: number;
  price: OhlcText;
  bid: OhlcText;
  ask: OhlcText;
  volume: string | null;
  /** Σ price × size on the outcomes traded; null if the bucket's trades are not all stored. */
  notional: string | null;
  trades: number | null;
  openInterest: string | null;
  /** Σ mean × volume of the platform's bars: notional in terms of the first outcome, if there is no trade history. */
  platformNotional: string | null;
  source: 'trades' | 'midpoint';
  /** Whether the price comes from trades or a platform bar; false if only from snapshots. */
  priced: boolean;
}

interface BarQuery extends OwnBarsQuery, StoredHistory {
  /** Whether to include buckets with only quotes of our snapshots: a quiet market has one per minute. */
  quotesAlone: boolean;
  nowMs: number;
}

/** Buckets per read: about a second. */
const MAX_BUCKETS = 20_000;

const NOTHING: OhlcText = { open: null, high: null, low: null, close: null };

/**
 * The buckets of [startTs, endTs) with any data, oldest first. Prices and volumes come from stored trades where all of a bucket are
 * stored, else from the platform's bar; open interest and quotes come from the platform's bar, else from snapshots. A platform minute
 * or hour without a price keeps the previous close; a wider bucket takes its price only from those with trades.
 */
async function barsBetween(clickhouse: BarStores['clickhouse'], query: BarQuery, own: OwnBars): Promise<Bar[]> {
  const { stepSeconds: step, startTs: start } = query;
  const buckets = await readSources(clickhouse, query, own);
  const ordered = [...buckets].toSorted(([a], [b]) => a - b);
  let close = isCarried(ordered) ? await own.closeBefore(start) : null;
  return ordered.map(([startTs, sources]) => {
    const endTs = startTs + step;
    const covered = isCovered(startTs, endTs, query);
    if (close !== null && !isCovered(close.startTs, startTs, query)) close = null;
    const bar = toBar(sources, { startTs, endTs, covered, previousClose: close?.text ?? null });
    if (covered && sources.own?.close != null) close = { startTs, text: sources.own.close };
    return bar;
  });
}

/** What is stored of each bucket, by its start. */
async function readSources(
  clickhouse: BarStores['clickhouse'],
  query: BarQuery,
  own: OwnBars,
): Promise<Map<number, Sources>> {
  const { platform, ref, stepSeconds: step, startTs: start } = query;
  // The last bucket is always read completely.
  const end = Math.ceil(query.endTs / step) * step;
  const isFirst = query.series === 0;
  const asked = { platform, ref, step, start, end };
  // Midpoint samples add nothing to a bucket whose trades are all stored.
  const isStored = isCovered(start, end, query) && isCovered(end - step, end, query);
  const asksTheirs = isFirst && (MANIFESTS[platform].barsBringQuotes || !isStored);
  // Several statements at a time: most of their time is parsing and planning, which one statement would do on one core.
  const [traded, theirs, alone] = await Promise.all([
    own.between(start, end),
    asksTheirs
      ? clickhouse.query(isBar(step) ? 'bars_of_platform' : 'merged_bars_of_platform', PlatformRow, asked)
      : [],
    isFirst && query.quotesAlone ? clickhouse.query('bars_of_quotes', QuoteRow, asked) : [],
  ]);
  const buckets = new Map<number, Sources>();
  for (const row of traded) buckets.set(row.t, { own: row });
  for (const row of theirs) buckets.set(row.t, { ...buckets.get(row.t), platform: row });
  for (const row of alone) buckets.set(row.t, { ...buckets.get(row.t), snapshots: row });
  if (isFirst && !query.quotesAlone) await addQuotes(clickhouse, asked, buckets);
  return buckets;
}

/** Adds quotes to the buckets that lack them: a quiet market has a snapshot every few minutes, of which only those between are read. */
async function addQuotes(
  clickhouse: BarStores['clickhouse'],
  asked: { platform: Platform; ref: string; step: number },
  buckets: Map<number, Sources>,
): Promise<void> {
  const lacking = [...buckets].flatMap(([t, { platform: bar }]) => (hasQuotes(bar) ? [] : t));
  if (lacking.length === 0) return;
  const bounds = { start: Math.min(...lacking), end: Math.max(...lacking) + asked.step };
  for (const row of await clickhouse.query('bars_of_quotes', QuoteRow, { ...asked, ...bounds })) {
    const bucket = buckets.get(row.t);
    if (bucket) buckets.set(row.t, { ...bucket, snapshots: row });
  }
}

/** Whether the close before the range is needed: the first bar is the platform's and has no price of stored trades. */
function isCarried(ordered: readonly (readonly [number, Sources])[]): boolean {
  const first = ordered.find(([, sources]) => sources.platform !== undefined || sources.own?.open != null);
  return first?.[1].platform !== undefined && first[1].own?.open == null;
}

/** Whether a bucket is as wide as the platform's own bars. */
const isBar = (seconds: number): boolean => seconds === 60 || seconds === 3600;

/** The first `limit` wanted bars, read in spans that grow up to a bound: a year of minutes never fits into memory. */
export async function firstBars(
  stores: BarStores,
  query: BarQuery,
  limit: number,
  isWanted: (bar: Bar) => boolean,
): Promise<Bar[]> {
  const { clickhouse } = stores;
  const own = await ownBars(stores, query);
  const bars: Bar[] = [];
  let from = query.startTs;
  for (let buckets = limit; from < query.endTs && bars.length < limit; buckets = Math.min(2 * buckets, MAX_BUCKETS)) {
    const to = Math.min(query.endTs, from + buckets * query.stepSeconds);
    const found = (await barsBetween(clickhouse, { ...query, startTs: from, endTs: to }, own)).filter(isWanted);
    bars.push(...found);
    // Years without a market, or without trades, are skipped.
    from = found.length > 0 || to >= query.endTs ? to : ((await nextBar(clickhouse, query, to)) ?? query.endTs);
  }
  return bars.slice(0, limit);
}

const NextRow = z.object({ t: z.coerce.number().nullable() });

/** The start of the next bucket from `fromTs` on that may have a bar; null if there is none. */
async function nextBar(clickhouse: BarStores['clickhouse'], query: BarQuery, fromTs: number): Promise<number | null> {
  const { platform, ref, series, alsoCounted = [], stepSeconds: step, quotesAlone } = query;
  const asked = { platform, ref, candles: candlesFor(step), step, quotes_alone: quotesAlone, start: fromTs };
  const rows = await Promise.all(
    [series, ...alsoCounted].map((one) => clickhouse.query('next_bar', NextRow, { ...asked, series: one })),
  );
  const starts = rows.flat().flatMap(({ t }) => t ?? []);
  return starts.length === 0 ? null : Math.max(fromTs, Math.floor(Math.min(...starts) / step) * step);
}

/**
 * Whether every trade of a bucket is stored. A bucket still filling, or whose end the feed is about to reach, counts: it has all trades so
 * far. One in which the feed fell behind does not.
 */
function isCovered(startTs: number, endTs: number, { span, gaps, nowMs }: BarQuery): boolean {
  if (span === null || span.fromUs > startTs * 1e6 || span.toUs < startTs * 1e6) return false;
  if (span.toUs < Math.min(endTs * 1e6, (nowMs - BUCKET_LAG_MS) * 1000)) return false;
  return !touchesGap(gaps, startTs, endTs);
}

interface Bucket {
  startTs: number;
  endTs: number;
  covered: boolean;
  /** The last price of stored trades before the bucket; null if trades in between may be missing. */
  previousClose: string | null;
}

/** The platform's bar if it may give prices: samples of the midpoint do only where trades may be missing. */
const usableBar = ({ platform }: Sources, { covered }: Bucket): Sources['platform'] =>
  platform && (platform.source === 'trades' || !covered) ? platform : undefined;

/** The prices of a bucket, and whether they are samples of the midpoint. */
function priceOf(sources: Sources, bucket: Bucket): { price: OhlcText; isMidpoint: boolean } {
  const { covered } = bucket;
  const { own } = sources;
  const theirs = usableBar(sources, bucket);
  const isTraded = own !== undefined && own.open !== null;
  if (covered && isTraded) return { price: ohlc(own), isMidpoint: false };
  if (!covered && theirs && theirs.open !== null)
    return { price: ohlc(theirs), isMidpoint: theirs.source === 'midpoint' };
  if (!covered && isTraded) return { price: ohlc(own), isMidpoint: false };
  return { price: carriedPrice(theirs, bucket) ?? NOTHING, isMidpoint: false };
}

/** The close before a minute or an hour of the platform without a price; null for a wider bucket. */
function carriedPrice(
  theirs: Sources['platform'],
  { startTs, endTs, covered, previousClose }: Bucket,
): OhlcText | null {
  if (theirs?.previous_close == null || !isBar(endTs - startTs)) return null;
  return flat((covered ? previousClose : null) ?? theirs.previous_close);
}

function toBar(sources: Sources, bucket: Bucket): Bar {
  const { own: trades, platform, snapshots } = sources;
  const { startTs, covered } = bucket;
  const { price, isMidpoint } = priceOf(sources, bucket);
  const theirVolume = platform?.source === 'trades' ? platform.volume : null;
  const quotes = [platform, snapshots].find(isQuoted);
  return {
    startTs,
    price,
    bid: quoted(quotes?.bid) ?? NOTHING,
    ask: quoted(quotes?.ask) ?? NOTHING,
    volume: covered ? (trades?.volume ?? '0') : theirVolume,
    notional: covered ? (trades?.notional ?? '0') : null,
    trades: covered ? (trades?.trades ?? 0) : null,
    openInterest: platform?.open_interest ?? snapshots?.open_interest ?? null,
    platformNotional: platform?.source === 'trades' ? platform.notional : null,
    source: isMidpoint ? 'midpoint' : 'trades',
    priced: trades !== undefined || usableBar(sources, bucket) !== undefined,
  };
}

const ohlc = ({ open, high, low, close }: OhlcText): OhlcText => ({ open, high, low, close });
const flat = (close: string): OhlcText => ({ open: close, high: close, low: close, close });

const isQuoted = (row: Sources['platform'] | Sources['snapshots']): boolean =>
  (quoted(row?.bid) ?? quoted(row?.ask)) !== null;

/** Whether a bar of the platform has all that stored quotes could add: open interest and quotes. */
const hasQuotes = (row: Sources['platform']): boolean => row?.open_interest != null && isQuoted(row);

function quoted(values: (string | null)[] | undefined): OhlcText | null {
  const [open = null, high = null, low = null, close = null] = values ?? [];
  return values?.some((value) => value !== null) ? { open, high, low, close } : null;
}

const other = (value: string | null): number | null => (value === null ? null : complementNumber(value));

/** OHLC as numbers; `flip` converts to a binary market's other outcome (1 − p, high and low swapped). */
export function ohlcNumbers(
  bar: OhlcText,
  flip = false,
): { open: number | null; high: number | null; low: number | null; close: number | null } {
  if (!flip)
    return {
      open: numberOfText(bar.open),
      high: numberOfText(bar.high),
      low: numberOfText(bar.low),
      close: numberOfText(bar.close),
    };
  return { open: other(bar.open), high: other(bar.low), low: other(bar.high), close: other(bar.close) };
}
