import { PlatformError } from '../../errors.ts';
import type { TradeRecord } from '../../schemas.ts';
import { type MarketDirectory, type ReadContext, TradeFeedGap, type TradePage, type TradeQuery } from '../platform.ts';
import { answeredUs, parseBody, parseRows } from '../rows.ts';
import type { PolymarketClient } from './client.ts';
import { mapPolymarketTrade, tradeIds } from './trade.ts';
import { type TradeRow, bareList, dataPage, tradeV1, tradeV2 } from './wire.ts';

const PAGE_ROWS = 1000;
/** Documented to 10,000; in practice version 1 refuses or repeats itself beyond 3,000 to 4,000. */
const MAX_OFFSET = 3000;
/** Pages in a row that may bring nothing older: a second holds fewer trades than these. */
const MAX_STALLS = 100;
/** A first page of version 2 may be kept by a CDN for minutes, under its address: it gets a new one so often. */
const FRESH_MS = 15_000;
const LEAST_SHARE = '0.000001';
const SECOND_US = 1_000_000;
const DAY_US = 86_400 * SECOND_US;
const TRADE_ROW_V1 = { platform: 'polymarket', kind: 'trade', idKey: 'transactionHash' } as const;
const TRADE_ROW_V2 = { platform: 'polymarket', kind: 'trade', idKey: 'transaction_hash' } as const;

/** What one feed is read with; `now` in Unix milliseconds. */
interface Feed {
  client: PolymarketClient;
  query: TradeQuery;
  directory: MarketDirectory;
  context: ReadContext;
  now: () => number;
}

/**
 * Taker trades, newest first. All markets: version 1 of the feed, fresh but short, then version 2, whole but perhaps cached
 * for minutes. One market: version 2, which has no offset to drift. Rows of one transaction are counted together, so a
 * transaction cut off by a page's end waits for the next page. The newest one may still grow; what it lacks now comes with
 * the next poll, whose overlap reads it again, and its ids do not change.
 */
export async function* readTrades(feed: Feed): AsyncGenerator<TradePage> {
  const { market, sinceUs, untilUs } = feed.query;
  if (market?.ref.startsWith('gamma:')) return;
  if (market) {
    yield* cursorFeed(feed, { condition: market.ref }, untilUs, yearsAgoUs(feed.now(), 3));
    return;
  }
  let doneDownToUs = Infinity;
  for await (const page of offsetFeed(feed)) {
    doneDownToUs = page.completeFromUs ?? doneDownToUs;
    yield page;
  }
  if (doneDownToUs <= sinceUs) return;
  const until = doneDownToUs === Infinity ? untilUs : Math.min(doneDownToUs - 1, untilUs ?? Infinity);
  yield* cursorFeed(feed, {}, until, lastMonthUs(feed.now()), doneDownToUs - SECOND_US);
}

/**
 * Version 1. Offsets count from a moving top: the next page starts where the cut-off transaction began, and repeated rows
 * keep their ids. Ends without an error where version 1 ends; the last completeFromUs tells how far it came.
 */
async function* offsetFeed(feed: Feed): AsyncGenerator<TradePage> {
  const { sinceUs, untilUs } = feed.query;
  let oldest = Infinity;
  for (let offset = 0; offset <= MAX_OFFSET;) {
    const { rows: received, platformUs } = await offsetPage(feed, offset);
    const rows = parseRows(tradeV1, received, TRADE_ROW_V1, feed.context).map(({ row }) => row);
    const last = rows.at(-1);
    if (!last || last.timestamp >= oldest) return;
    oldest = last.timestamp;
    if (oldest * SECOND_US < sinceUs) {
      yield { trades: await records(feed, rows, tradeIds(rows), untilUs), completeFromUs: sinceUs, platformUs };
      return;
    }
    const whole = wholeTransactions(rows);
    if (whole.length === 0) whole.push(...rows);
    const completeFromUs = (oldest + 1) * SECOND_US;
    yield { trades: await records(feed, whole, tradeIds(whole), untilUs), completeFromUs, platformUs };
    if (received.length < PAGE_ROWS) return;
    offset += whole.length < rows.length ? whole.length : received.length;
  }
}

/** One page of version 1; none where the platform refuses an offset it documents. */
async function offsetPage({ client, context }: Feed, offset: number) {
  try {
    const reply = await client.get('data/trades', '/trades', { takerOnly: true, limit: PAGE_ROWS, offset }, context);
    return { rows: parseBody('polymarket', bareList, reply), platformUs: answeredUs(reply) };
  } catch (error) {
    if (offset > 0 && error instanceof PlatformError && error.kind === 'refused') return { rows: [] };
    throw error;
  }
}

/**
 * Version 2, in a strict order, so a transaction cut off by a page is completed by the next. Without a user it reaches back
 * to `floorUs` only: a feed that ends right at its floor was cut there, and says so.
 */
async function* cursorFeed(
  feed: Feed,
  filter: { condition?: string },
  untilUs: number | null,
  floorUs: number,
  joinUs = Infinity,
): AsyncGenerator<TradePage> {
  const { sinceUs } = feed.query;
  const limit = PAGE_ROWS - (Math.floor(feed.now() / FRESH_MS) % 100);
  let cursor = '';
  let waiting: TradeRow[] = [];
  let reachedUs = Infinity;
  for (let stalls = 0; stalls < MAX_STALLS;) {
    // Without an amount, trades of less than a hundredth of a share are left out.
    const params = {
      ...filter,
      taker_only: true,
      filter_amount: LEAST_SHARE,
      limit,
      cursor: cursor || undefined,
    };
    const reply = await feed.client.get('data-v2/trades', '/v2/trades', params, feed.context);
    const { rows: received, next } = parseBody('polymarket', dataPage, reply);
    const rows = [...waiting, ...parseRows(tradeV2, received, TRADE_ROW_V2, feed.context).map(({ row }) => row)];
    // Version 1 has shown a trade of that second, which a page that is not older has too.
    if (cursor === '' && joinUs < Infinity && !rows.some((row) => row.timestamp * SECOND_US >= joinUs)) {
      throw new PlatformError('polymarket', 'unavailable', { detail: '/v2/trades: older than what /trades shows' });
    }
    const last = rows.at(-1);
    const oldestUs = last ? last.timestamp * SECOND_US : Infinity;
    const reached = oldestUs < sinceUs;
    const ended = next === '';
    const whole = reached || ended ? rows : wholeTransactions(rows);
    waiting = rows.slice(whole.length);
    const floored = ended && !reached && sinceUs < floorUs && oldestUs < floorUs + DAY_US;
    const completeFromUs = reached || (ended && !floored) ? sinceUs : oldestUs + SECOND_US;
    yield {
      trades: await records(feed, whole, tradeIds(whole), untilUs),
      completeFromUs: Number.isFinite(completeFromUs) ? completeFromUs : null,
      platformUs: answeredUs(reply),
    };
    if (floored) throw new TradeFeedGap(sinceUs, oldestUs);
    if (reached || ended) return;
    if (next === cursor) break;
    cursor = next;
    stalls = oldestUs < reachedUs ? 0 : stalls + 1;
    reachedUs = Math.min(reachedUs, oldestUs);
  }
  throw new PlatformError('polymarket', 'bad_answer', { detail: '/v2/trades: the cursor does not come to an end' });
}

/** The rows before the last transaction, which the page's end may have cut off. */
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

/** The rows inside the query's times as records; rows of which nobody knows what was traded are reported. */
async function records(
  { query, directory, context }: Feed,
  rows: readonly TradeRow[],
  ids: readonly string[],
  untilUs: number | null,
): Promise<TradeRecord[]> {
  const wanted = rows
    .map((row, index) => ({ row, id: ids[index] ?? '', us: row.timestamp * SECOND_US }))
    .filter(({ us }) => us >= query.sinceUs && us <= (untilUs ?? Infinity));
  const markets = query.market
    ? new Map([[query.market.ref, query.market]])
    : await directory.byRef('polymarket', [...new Set(wanted.map(({ row }) => row.conditionId))]);
  return wanted.flatMap(({ row, id }) => {
    const market = markets.get(row.conditionId);
    const record = mapPolymarketTrade(row, id, market);
    if (record) return [record];
    const reason = market ? `token ${row.tokenId} is not one of its market's` : `unknown condition ${row.conditionId}`;
    context.onBadRow({ platform: 'polymarket', kind: 'trade', id, reason });
    return [];
  });
}

const yearsAgoUs = (now: number, years: number): number => {
  const date = new Date(now);
  return date.setUTCFullYear(date.getUTCFullYear() - years) * 1000;
};
/** Start of the UTC month before this one. */
export const lastMonthUs = (now: number): number => {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1) * 1000;
};
