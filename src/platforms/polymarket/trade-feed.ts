import { PlatformError } from '../../core/errors.ts';
import { type MarketDirectory, type ReadContext, TradeFeedGap, type TradePage, type TradeQuery } from '../contract.ts';
import { microseconds } from '../market-fields.ts';
import type { PolymarketClient } from './client.ts';
import { feedStartMs } from './manifest.ts';
import { sureOldest } from '../list-pages.ts';
import { pages } from './list-pages.ts';
import { gammaIdOf } from './market.ts';
import { mapPolymarketTrade, parseTrades, TRADE_FILTERS, tradeIds } from './trade.ts';
import type { TradeRow } from './wire.ts';
import { DAY_US } from '../../core/time.ts';

/** Maximum consecutive pages without an older trade: no second has that many trades. */
const MAX_STALLS = 100;
const STALLED = '/v2/trades: the pages do not become older';
const SECOND_US = 1_000_000;
/** How long a trade may wait until its market is listed, or labelled. */
export const MAX_WAIT_MS = 900_000;

/** Parameters of one read of the feed; `now` in Unix milliseconds. */
interface Feed {
  client: PolymarketClient;
  query: TradeQuery;
  directory: MarketDirectory;
  context: ReadContext;
  now: () => number;
}

/** Taker trades of all markets or of one, newest first. */
export function readTrades(feed: Feed): AsyncGenerator<TradePage> {
  const { market } = feed.query;
  if (!market) return cursorFeed(feed, {}, lastMonthUs(feed.now()));
  // A market without a condition is older than the feed.
  if (gammaIdOf(market.ref) !== null) return noPages();
  const floorUs = feedStartMs(feed.now()) * 1000;
  const isYounger = (microseconds(market.tradingStartAt) ?? -Infinity) >= floorUs;
  return cursorFeed(feed, { condition: market.ref }, isYounger ? -Infinity : floorUs);
}

async function* noPages(): AsyncGenerator<TradePage> {}

/**
 * Rows of one transaction are numbered together, so a transaction that a page may cut waits for the next page. The newest one may still
 * grow; the overlap of the next poll reads the rest, and ids do not change. The feed starts at `floorUs` (-Infinity: at its first
 * trade): a read that ends there was cut off, and reports that; one that ends later is complete only from there.
 */
async function* cursorFeed(feed: Feed, filter: { condition?: string }, floorUs: number): AsyncGenerator<TradePage> {
  const { sinceUs, expected } = feed.query;
  let waiting: TradeRow[] = [];
  let reachedUs = Infinity;
  let stalls = 0;
  const query = { ...filter, ...TRADE_FILTERS, taker_only: true };
  for await (const page of pages(feed.client, '/v2/trades', query, feed.context, { maxPages: Infinity, expected })) {
    const rows = [...waiting, ...parseTrades(page.rows, feed.context).map(({ row }) => row)];
    const oldestUs = sureOldest(rows.map(({ timestamp }) => timestamp * SECOND_US));
    const reached = oldestUs < sinceUs;
    const ended = page.next === '';
    const whole = reached || ended ? rows : wholeTransactions(rows);
    waiting = rows.slice(whole.length);
    const lastUs = (rows.at(-1)?.timestamp ?? Infinity) * SECOND_US;
    const startUs = Math.abs(lastUs - floorUs) < DAY_US ? lastUs : oldestUs;
    const floored = ended && !reached && sinceUs < floorUs && startUs < floorUs + DAY_US;
    const endUs = floored ? startUs + SECOND_US : ended ? Math.max(sinceUs, floorUs) : oldestUs + SECOND_US;
    const completeFromUs = reached ? sinceUs : endUs;
    yield {
      ...(await records(feed, whole)),
      completeFromUs: Number.isFinite(completeFromUs) ? completeFromUs : null,
      platformUs: page.madeUs,
      receivedAt: page.receivedAt,
    };
    if (floored) throw new TradeFeedGap(sinceUs, startUs);
    if (reached) return;
    stalls = oldestUs < reachedUs ? 0 : stalls + 1;
    if (stalls === MAX_STALLS) throw new PlatformError('polymarket', 'bad_answer', { detail: STALLED });
    reachedUs = Math.min(reachedUs, oldestUs);
  }
}

/** The rows before the last transaction, which may continue on the next page. */
function wholeTransactions(rows: readonly TradeRow[]): TradeRow[] {
  const last = rows.at(-1)?.transactionHash;
  return rows.slice(
    0,
    Math.max(
      rows.findIndex((row) => row.transactionHash === last),
      0,
    ),
  );
}

/**
 * The rows within the query's times as records. A row whose outcome is unknown waits for the directory, and the read is complete only up
 * to it, until it has waited too long and is reported.
 */
async function records(
  { query, directory, context, now }: Feed,
  rows: readonly TradeRow[],
): Promise<Pick<TradePage, 'trades' | 'waitsFromUs'>> {
  const ids = tradeIds(rows);
  const wanted = rows
    .map((row, index) => ({ row, id: ids[index] ?? '', us: row.timestamp * SECOND_US }))
    .filter(({ us }) => us >= query.sinceUs && us <= (query.untilUs ?? Infinity));
  const markets = query.market
    ? new Map([[query.market.ref, query.market]])
    : await directory.byRef('polymarket', [...new Set(wanted.map(({ row }) => row.conditionId))]);
  let waitsFromUs: number | undefined;
  const trades = wanted.flatMap(({ row, id, us }) => {
    const market = markets.get(row.conditionId);
    const record = mapPolymarketTrade(row, id, market);
    if (record) return [record];
    if (!market && us > (now() - MAX_WAIT_MS) * 1000) {
      waitsFromUs = Math.min(waitsFromUs ?? Infinity, us);
      return [];
    }
    const reason = market ? `token ${row.tokenId} is not one of its market's` : `unknown condition ${row.conditionId}`;
    context.onBadRow({ platform: 'polymarket', kind: 'trade', id, reason });
    return [];
  });
  return { trades, waitsFromUs };
}

/** Start of the UTC month before this one. */
export const lastMonthUs = (now: number): number => {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1) * 1000;
};
