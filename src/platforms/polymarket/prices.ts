import type { CandleRecord } from '../../core/model.ts';
import { PlatformError } from '../../core/errors.ts';
import type { StoredMarket, ReadContext } from '../contract.ts';
import { parseBody, parseRows } from '../parse-rows.ts';
import { mapPolymarketCandles } from './candle.ts';
import type { PolymarketClient, Query } from './client.ts';
import { type HistoryPoint, dataPage, historyPoint } from './wire.ts';

const ROUTE = '/v2/prices-history';
const DAY_SEC = 86_400;
/** Longer windows are rejected. */
const WINDOW_SEC = 15 * DAY_SEC;
const PAGE_ROWS = 10_000;
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
const POINT_ROW = { platform: 'polymarket', kind: 'candle', idKey: 'timestamp' } as const;

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
    const query = { token_id: token, start: from, end: to, bucket_seconds: width, limit: PAGE_ROWS };
    points.push(...(await readWindow(client, query, context)));
  }
  return mapPolymarketCandles(points, market.ref, intervalMin, startTs, endTs);
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

async function readWindow(client: PolymarketClient, query: Query, context: ReadContext): Promise<HistoryPoint[]> {
  const points: HistoryPoint[] = [];
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = { ...query, cursor: cursor || undefined };
    const reply = await client.get('data-v2/prices-history', ROUTE, params, context);
    const { rows, next } = parseBody('polymarket', dataPage, reply, ROUTE);
    points.push(...parseRows(historyPoint, rows, POINT_ROW, context).map(({ row }) => row));
    if (next === '') return points;
    if (next === cursor) break;
    cursor = next;
  }
  throw new PlatformError('polymarket', 'bad_answer', { detail: `${ROUTE}: the cursor does not come to an end` });
}
