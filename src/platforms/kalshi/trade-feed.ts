import { PlatformError } from '../../core/errors.ts';
import type { TradeRecord } from '../../core/model.ts';
import type { ReadContext, TradePage, TradeQuery } from '../contract.ts';
import { pageSize, sureOldest } from '../list-pages.ts';
import { parseRows } from '../parse-rows.ts';
import type { KalshiClient } from './client.ts';
import type { ReadCutoff } from './archive-cutoff.ts';
import { KalshiTrade, mapKalshiTrade, TRADE_ROW } from './trade.ts';
import { HOUR_MS } from '../../core/time.ts';

const PAGE_LIMIT = 1000;
/** A cursor chain restarts after this many pages, so that one broken cursor costs little. */
const PAGES_PER_CHAIN = 50;
const DAY_S = 86_400;
/** The live list has trades of weeks: a read of newer ones needs no cutoff. */
const NEW_S = 2 * DAY_S;
/** The archive is read slightly beyond the cutoff; duplicates are dropped by trade id. */
const OVERLAP_S = 3600;
/** Kalshi opened in July 2021: no trade is older. */
const FIRST_TRADE_S = Date.UTC(2021, 5, 1) / 1000;

function readTrades(rows: readonly unknown[], context: ReadContext): TradeRecord[] {
  const trades: TradeRecord[] = [];
  for (const { row } of parseRows(KalshiTrade, rows, TRADE_ROW, context)) {
    const trade = mapKalshiTrade(row);
    if (trade) trades.push(trade);
    else context.onBadRow({ platform: 'kalshi', kind: 'trade', id: row.trade_id, reason: 'created_time: not a time' });
  }
  return trades;
}

interface Feed {
  client: KalshiClient;
  cutoff: ReadCutoff;
  /** Unix ms. */
  now: () => number;
}

/** Whether the platform rejected or repeated the cursor, rather than failing as a whole. */
const isBrokenChain = (error: unknown): boolean =>
  error instanceof PlatformError && ['refused', 'not_found', 'bad_answer'].includes(error.kind);

/** What the trades of a feed are read for. */
interface Reading {
  client: KalshiClient;
  query: TradeQuery;
  context: ReadContext;
}
/** A list, and the Unix seconds between which it is read; `untilS` null = now. */
interface Span {
  path: string;
  fromS: number;
  untilS: number | null;
}

const completeFrom = ({ sinceUs }: TradeQuery, us: number): number => Math.max(sinceUs, us);

/** Every page of a span; a broken chain of cursors restarts from its oldest trade. */
async function* chain({ client, query, context }: Reading, { path, fromS, untilS }: Span): AsyncGenerator<TradePage> {
  const fixed = { limit: pageSize(query.expected, PAGE_LIMIT), ticker: query.market?.ref, min_ts: fromS - 1 };
  const wanted = ({ executedAtUs }: TradeRecord): boolean =>
    executedAtUs >= query.sinceUs && (query.untilUs === null || executedAtUs <= query.untilUs);
  let oldestUs = Infinity;
  const restartS = (): number => Math.floor(oldestUs / 1e6) + 1;

  async function* onePass(maxS: number | null): AsyncGenerator<TradePage, 'ended' | 'restart'> {
    const canRestart = (): boolean => restartS() < (maxS ?? Infinity);
    let pages = 0;
    try {
      for await (const page of client.pages(path, 'trades', { ...fixed, max_ts: maxS ?? undefined }, context)) {
        pages += 1;
        const trades = readTrades(page.rows, context);
        oldestUs = Math.min(oldestUs, sureOldest(trades.map(({ executedAtUs }) => executedAtUs)));
        yield {
          trades: trades.filter(wanted),
          completeFromUs: oldestUs === Infinity ? null : completeFrom(query, oldestUs + 1),
          platformUs: page.answeredUs,
          receivedAt: page.receivedAt,
        };
        // The feed is newest first with a resolution of whole seconds: what follows is older than requested.
        if (page.next === '' || oldestUs < query.sinceUs) return 'ended';
        if (pages % PAGES_PER_CHAIN === 0 && canRestart()) return 'restart';
      }
    } catch (error) {
      if (pages === 0 || !isBrokenChain(error) || !canRestart()) throw error;
    }
    return 'restart';
  }

  let maxS = untilS;
  while ((yield* onePass(maxS)) === 'restart') maxS = restartS();
}

/**
 * The trade feed, newest first: the live list down to its cutoff (below it the list is empty, without an error), then the archive
 * in windows of one day. A page is complete down to just above its oldest trade; an empty page completes a span.
 */
export async function* kalshiTrades(
  { client, cutoff, now }: Feed,
  query: TradeQuery,
  context: ReadContext,
): AsyncGenerator<TradePage> {
  const reading: Reading = { client, query, context };
  const sinceS = Math.max(FIRST_TRADE_S, Math.floor(query.sinceUs / 1e6));
  const untilS = query.untilUs === null ? null : Math.floor(query.untilUs / 1e6) + 1;
  if (sinceS > now() / 1000 - NEW_S) {
    yield* chain(reading, { path: '/markets/trades', fromS: sinceS, untilS });
    yield { trades: [], completeFromUs: query.sinceUs };
    return;
  }
  const readCutoff = (maxAgeMs: number): Promise<number> => cutoff('trades_created_ts', maxAgeMs, context);
  let cutoffS = await readCutoff(HOUR_MS);
  if (untilS === null || untilS >= cutoffS - DAY_S) {
    yield* chain(reading, { path: '/markets/trades', fromS: sinceS, untilS });
    if (sinceS < cutoffS + 2 * DAY_S) cutoffS = await readCutoff(0);
    yield { trades: [], completeFromUs: completeFrom(query, cutoffS * 1e6) };
  }

  let windowEndS = Math.min(untilS ?? Infinity, cutoffS + OVERLAP_S);
  while (windowEndS > sinceS) {
    const windowStartS = query.market ? sinceS : Math.max(sinceS, windowEndS - DAY_S);
    yield* chain(reading, { path: '/historical/trades', fromS: windowStartS, untilS: windowEndS });
    yield {
      trades: [],
      completeFromUs: windowStartS === sinceS ? query.sinceUs : completeFrom(query, windowStartS * 1e6),
    };
    windowEndS = windowStartS;
  }
}
