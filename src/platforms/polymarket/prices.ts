import { ONE_PRICE } from '../../core/decimal.ts';
import { type CandleRecord, hasEnded } from '../../core/model.ts';
import type { StoredMarket, ReadContext } from '../contract.ts';
import { parseRows } from '../parse-rows.ts';
import { mapPolymarketCandles } from './candle.ts';
import type { PolymarketClient } from './client.ts';
import { pages } from './list-pages.ts';
import { type HistoryPoint, historyPoint } from './wire.ts';

const DAY_SEC = 86_400;
/** Longer windows are rejected. */
const WINDOW_SEC = 15 * DAY_SEC;
/** A window of minutes has 21,600 samples. */
const MAX_PAGES = 10;
/** Sample intervals, finest first, and for how many days the platform keeps each. */
const WIDTHS = [
  { seconds: 60, days: 7 },
  { seconds: 300, days: 60 },
  { seconds: 1800, days: 90 },
  { seconds: 10_800, days: Infinity },
] as const;
/** An hour needs several samples for high and low; more than one per five minutes adds nothing. */
const FINEST_SEC = { 1: 60, 60: 300 } as const;
const POINT_ROW = {
  platform: 'polymarket',
  kind: 'candle',
  idKey: 'timestamp',
  essential: ['timestamp', 'price'],
} as const;

/**
 * Bars from price samples of the first token. Minutes are available for a week. Hours more than 90 days ago have one sample every three
 * hours, which represents all three.
 */
export async function readCandles(
  client: PolymarketClient,
  market: StoredMarket,
  { intervalMin, startTs, endTs, nowTs }: { intervalMin: 1 | 60; startTs: number; endTs: number; nowTs: number },
  context: ReadContext,
): Promise<CandleRecord[]> {
  const token = market.outcomes[0]?.tokenId ?? '';
  if (token === '') return [];
  const points: HistoryPoint[] = [];
  for (const { from, to, width } of windows(intervalMin, startTs, endTs, nowTs)) {
    const query = { token_id: token, start: from, end: to, bucket_seconds: width };
    for await (const { rows } of pages(client, '/v2/prices-history', query, context, { maxPages: MAX_PAGES })) {
      const read = parseRows(historyPoint, rows, POINT_ROW, context).map(({ row }) => row);
      points.push(...read.filter((point) => !mayBePayout(point, market, nowTs)));
    }
  }
  return mapPolymarketCandles(points, market.ref, intervalMin, startTs, endTs);
}

/**
 * Whether a sample may be a payout: it has no width and a time after the end of trading. The last trade of a window has no width either.
 * Our status may be older, so prices of 0 and 1, which no trade has, count at any time.
 */
function mayBePayout(
  { timestamp, price, resolution_seconds: width }: HistoryPoint,
  market: StoredMarket,
  nowTs: number,
) {
  if (width !== 0) return false;
  if (price === 0n || price === ONE_PRICE) return true;
  if (!hasEnded(market)) return false;
  const endTs = Math.floor(Date.parse(market.tradingEndAt ?? '') / 1000);
  // A market that ended before its planned end has no known end.
  return !(timestamp < endTs && endTs <= nowTs);
}

/** The parts of [startTs, endTs), oldest first, each with the finest interval available for its age. */
function windows(intervalMin: 1 | 60, startTs: number, endTs: number, nowTs: number) {
  const list: { from: number; to: number; width: number }[] = [];
  let to = endTs;
  for (const { seconds, days } of WIDTHS) {
    if (seconds < FINEST_SEC[intervalMin] || (intervalMin === 1 && seconds > 60)) continue;
    const from = Math.max(1, startTs, days === Infinity ? 0 : nowTs - days * DAY_SEC);
    for (; to > from; to -= Math.min(WINDOW_SEC, to - from)) {
      list.push({ from: Math.max(from, to - WINDOW_SEC), to, width: seconds });
    }
  }
  return list.toReversed();
}
