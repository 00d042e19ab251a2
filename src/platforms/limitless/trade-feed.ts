import { PlatformError } from '../../core/errors.ts';
import type { TradeRecord } from '../../core/model.ts';
import { DAY_US } from '../../core/time.ts';
import { microseconds } from '../market-fields.ts';
import type { StoredMarket, ReadContext, TradePage, TradeQuery } from '../contract.ts';
import { sureOldest } from '../list-pages.ts';
import { answeredUs, parseBody, parseRows } from '../parse-rows.ts';
import type { LimitlessClient } from './client.ts';
import { limitlessTradeId, mapLimitlessTrade } from './trade.ts';
import { LimitlessTrade, LimitlessTradePage, TRADE_ROW } from './wire.ts';

const PAGE_LIMIT = 100;
/** A transaction can be indexed behind newer ones: what the read pages have of this long before `sinceUs` is kept. */
const LATE_US = DAY_US;
/** Maximum consecutive pages with only rows that were already read. */
const MAX_STALLS = 5;

const timeUs = (trade: LimitlessTrade): number => microseconds(trade.createdAt) ?? Infinity;

/** Rows of complete transactions as records; identical rows are numbered in the order of the feed. */
function toRecords(market: StoredMarket, rows: readonly LimitlessTrade[], context: ReadContext): TradeRecord[] {
  const identical = new Map<string, number>();
  return rows.flatMap((row) => {
    const identity = limitlessTradeId(row, 0);
    const k = identical.get(identity) ?? 0;
    identical.set(identity, k + 1);
    const trade = mapLimitlessTrade(market, row, k);
    if (typeof trade !== 'string') return trade;
    context.onBadRow({ platform: 'limitless', kind: 'trade', id: row.txHash, reason: trade });
    return [];
  });
}

/**
 * A market's trades newest first, until a page reaches `sinceUs`, and one page more for late rows. Pages count from the newest row, so
 * new rows push known ones to later pages, but a row's rank from the oldest is fixed: ranks already read are skipped. A
 * transaction that may continue on the next page waits for it.
 */
export async function* limitlessTrades(
  client: LimitlessClient,
  market: StoredMarket,
  query: TradeQuery,
  context: ReadContext,
): AsyncGenerator<TradePage> {
  const path = `/markets/${encodeURIComponent(market.ref)}/events`;
  const wanted = ({ executedAtUs }: TradeRecord): boolean =>
    executedAtUs >= query.sinceUs - LATE_US && (query.untilUs === null || executedAtUs <= query.untilUs);
  let waiting: LimitlessTrade[] = [];
  let nextRank = Infinity;
  let reachedSince = false;
  let stalls = 0;
  for (let page = 1; ;) {
    const reply = await client.get(path, { page, limit: PAGE_LIMIT }, context);
    const body = parseBody('limitless', LimitlessTradePage, reply);
    const perPage = body.limit ?? PAGE_LIMIT;
    const firstRank = (body.totalRows ?? Infinity) - (page - 1) * perPage;
    // Each page is cached by itself: rows between this one and a newer copy of the page before would be lost.
    if (Number.isFinite(nextRank) && firstRank < nextRank) {
      throw new PlatformError('limitless', 'bad_answer', {
        detail: `${path}: page ${page} is older than the one before`,
      });
    }
    const alreadyRead = Number.isFinite(nextRank) ? Math.max(0, firstRank - nextRank) : 0;
    nextRank = Math.min(nextRank, firstRank - body.events.length);

    const unread = parseRows(LimitlessTrade, body.events.slice(alreadyRead), TRADE_ROW, context).map(({ row }) => row);
    const rows = [...waiting, ...unread];
    const ended = body.totalPages ? page >= body.totalPages : body.events.length < perPage;
    const openTransaction = ended ? undefined : rows.at(-1)?.txHash;
    const complete = rows.findLastIndex(({ txHash }) => txHash !== openTransaction) + 1;
    waiting = rows.slice(complete);
    const done = ended || (reachedSince && unread.length > 0);
    reachedSince ||= sureOldest(rows.map(timeUs)) < query.sinceUs;
    const newestWaitingUs = waiting.reduce((newest, row) => Math.max(newest, timeUs(row)), -Infinity);
    const completeFromUs = done ? query.sinceUs : Math.max(query.sinceUs, newestWaitingUs + 1);
    yield {
      trades: toRecords(market, rows.slice(0, complete), context).filter(wanted),
      completeFromUs: Number.isFinite(newestWaitingUs) || done ? completeFromUs : null,
      platformUs: answeredUs(reply),
      receivedAt: reply.receivedAt,
    };
    if (done) return;

    stalls = alreadyRead < body.events.length ? 0 : stalls + 1;
    if (stalls > MAX_STALLS) {
      throw new PlatformError('limitless', 'unavailable', { detail: `${path}: new trades outrun the reading` });
    }
    page = Number.isFinite(nextRank) ? Math.floor((Number(body.totalRows) - nextRank) / perPage) + 1 : page + 1;
  }
}
