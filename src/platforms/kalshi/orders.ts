import { z } from 'zod';
import { complement } from '../../core/decimal.ts';
import { PlatformError } from '../../core/errors.ts';
import type { PlatformReply } from '../http/request.ts';
import type {
  Cancellation,
  OrderAccess,
  OrderIntent,
  OrderRecord,
  Placement,
  PlatformOrder,
  PlatformOrders,
} from '../order-contract.ts';
import { failedPlacement } from '../failed-placement.ts';
import type { AdapterDeps } from '../contract.ts';
import { isStatedNotFound, nullIfStatedAbsent, parseBody, parseRow, parseRows } from '../parse-rows.ts';
import { createOwnKalshi } from './own-account.ts';
import { createKalshiAccount, type KalshiAccount } from './signed-client.ts';
import type { KalshiQuery } from './client.ts';
import { averageOf, averageOfFills, KalshiFill, KalshiOrder, KalshiPlaced, mapOrder, mapPlaced } from './order-rows.ts';
import { checkKalshiOrder, isBid, kalshiGrid, toKalshiOrder } from './order-request.ts';

const WRITES = '/portfolio/events/orders';
const READS = '/portfolio/orders';
const ROW = { platform: 'kalshi', kind: 'order', idKey: 'order_id' } as const;
const PAGE_ROWS = 1000;
/** Pages of finished orders read at once; older ones are found by their id. */
const MAX_PAGES = 5;
const MAX_RESTING_PAGES = 20;
/** Tokens of a cancel and of one order's read. */
const SMALL_COST = 2;
/** An answer to a placement waits at most this long for the fees of what was filled. */
const FEES_MS = 2000;
/** How far our clock and Kalshi's may differ. */
const CLOCK_MS = 60_000;
/** Orders that ended longer ago than this may have moved to the archive. */
const ARCHIVE_MS = 7 * 86_400_000;

const OneOrder = z.object({ order: z.unknown() });
const Cancelled = z.object({ reduced_by: z.string() });

type Access = OrderAccess<'kalshi'>;

/** Kalshi's V2 orders. Writes go to /portfolio/events/orders, reads stayed at /portfolio/orders. */
export function createKalshiOrders({ http, urls, now }: AdapterDeps): PlatformOrders<'kalshi'> {
  const account = (access: Access): KalshiAccount => createKalshiAccount({ http, urls, now }, access);

  async function read(orderId: string, access: Access): Promise<PlatformOrder | null> {
    const path = `${READS}/${encodeURIComponent(orderId)}`;
    const reply = await account(access).get(path, {}, SMALL_COST).catch(nullIfStatedAbsent);
    return reply ? orderIn(reply, access) : null;
  }

  async function orderIn(reply: PlatformReply, access: Access): Promise<PlatformOrder> {
    const { order } = parseBody('kalshi', OneOrder, reply, READS);
    const parsed = parseRow(KalshiOrder, order, ROW, access);
    if (!parsed) throw new PlatformError('kalshi', 'bad_answer', { detail: `${READS}: not an order` });
    return withFills(parsed.row, access);
  }

  /** The row with its mean price, from its fills if the row does not contain it. */
  async function withFills(row: KalshiOrder, access: Access): Promise<PlatformOrder> {
    const average = averageOf(row);
    if (average !== null || row.fill_count_fp === 0n) return mapOrder(row, average, now());
    const page = await account(access).page('/portfolio/fills', 'fills', { order_id: row.order_id, limit: PAGE_ROWS });
    const fills = parseRows(KalshiFill, page.rows, { ...ROW, kind: 'trade', idKey: 'fill_id' }, access);
    return mapOrder(
      row,
      averageOfFills(
        row,
        fills.map((fill) => fill.row),
      ),
      now(),
    );
  }

  /** Rows of a list until it ends or `maxPages` are read. */
  async function rows(path: string, query: KalshiQuery, maxPages: number, access: Access) {
    const found: KalshiOrder[] = [];
    let cursor = '';
    for (let page = 0; page < maxPages; page++) {
      const next = await account(access).page(path, 'orders', { ...query, limit: PAGE_ROWS, cursor });
      found.push(...parseRows(KalshiOrder, next.rows, ROW, access).map(({ row }) => row));
      cursor = next.cursor;
      if (cursor === '') break;
    }
    return { found, ended: cursor === '' };
  }

  /** The order among those of its market sent about then; the archive is asked when it may be there. */
  async function search(record: OrderRecord, access: Access): Promise<PlatformOrder | null> {
    const query = { ticker: record.marketRef, min_ts: Math.floor((record.sentAtMs - CLOCK_MS) / 1000) };
    const archive = now() - record.sentAtMs > ARCHIVE_MS ? ['/historical/orders'] : [];
    for (const path of [READS, ...archive]) {
      const { found } = await rows(path, query, MAX_PAGES, access);
      const row = found.find((one) => isThe(record, one));
      if (row) return withFills(row, access);
    }
    return null;
  }

  const findOne = async (record: OrderRecord, access: Access): Promise<PlatformOrder | null> =>
    (record.orderId === null ? null : await read(record.orderId, access)) ?? search(record, access);

  async function place(intent: OrderIntent, member: KalshiAccount, body: string, access: Access): Promise<Placement> {
    try {
      const reply = await member.send('POST', WRITES, body);
      const placed = parseBody('kalshi', KalshiPlaced, reply, WRITES);
      const order = mapPlaced(intent, placed, reply.receivedAt);
      return { result: 'accepted', httpStatus: reply.status, detail: '', order: await withFees(order, access) };
    } catch (error) {
      // An order holds this client order id: maybe this one, if a gateway on the way sent it twice.
      if (error instanceof PlatformError && error.status === 409 && /already.exists/.test(error.detail)) {
        return { result: 'unknown', httpStatus: 409, detail: error.detail };
      }
      return failedPlacement('kalshi', error, advice);
    }
  }

  /** The reply contains no fees: an order that was filled is read once. A read that lags behind the reply changes nothing. */
  async function withFees(order: PlatformOrder, access: Access): Promise<PlatformOrder> {
    if (order.filledSize === 0n) return order;
    const hurried = { ...access, signal: AbortSignal.timeout(FEES_MS) };
    const seen = await read(order.orderId, hurried).catch(() => null);
    if (!seen || seen.filledSize < order.filledSize) return order;
    if (seen.filledSize !== order.filledSize) return order;
    const { makerFee, takerFee, updatedAt, averageFillPrice: mean } = seen;
    // The reply rounds the mean of several prices to four decimals.
    const own = mean !== null && seen.outcomeIndex !== order.outcomeIndex ? complement(mean) : mean;
    return { ...order, makerFee, takerFee, updatedAt, averageFillPrice: own ?? order.averageFillPrice };
  }

  async function cancelOne(target: { orderId: string; marketRef: string }, access: Access): Promise<Cancellation> {
    const path = `${WRITES}/${encodeURIComponent(target.orderId)}?market_ticker=${encodeURIComponent(target.marketRef)}`;
    try {
      const reply = await account(access).send('DELETE', path, null, SMALL_COST);
      const { reduced_by: reducedBy } = parseBody('kalshi', Cancelled, reply, WRITES);
      const result = Number(reducedBy) > 0 ? 'cancelled' : 'not_open';
      return { result, httpStatus: reply.status, detail: '' };
    } catch (error) {
      if (!(error instanceof PlatformError) || error.kind === 'unauthorized') throw error;
      const result = isStatedNotFound(error) ? 'not_open' : 'unconfirmed';
      return { result, httpStatus: error.status, detail: error.detail };
    }
  }

  return {
    platform: 'kalshi',
    ownAccount: {
      idOf: (credential) => credential.api_key_id,
      open: (access) => createOwnKalshi(account(access), access, now),
    },
    grid: kalshiGrid,
    check: checkKalshiOrder,

    async prepare(intent, access) {
      const wire = toKalshiOrder(intent);
      // Reads the key: one that cannot sign is noticed before anything is stored or sent.
      const member = account(access);
      return {
        orderId: null,
        wire: { ...wire },
        metadata: {},
        place: () => place(intent, member, JSON.stringify(wire), access),
      };
    },

    find: (records, access) => Promise.all(records.map((record) => findOne(record, access))),
    get: read,

    async list({ market, sinceMs }, access) {
      const ticker = market?.ref;
      const resting = await rows(READS, { ticker, status: 'resting' }, MAX_RESTING_PAGES, access);
      const since = sinceMs > 0 ? Math.floor((sinceMs - CLOCK_MS) / 1000) : undefined;
      const recent = await rows(READS, { ticker, min_ts: since }, MAX_PAGES, access);
      // What is in both was read later in the second list.
      const byId = new Map([...resting.found, ...recent.found].map((row) => [row.order_id, row]));
      const orders = [...byId.values()].map((row) => mapOrder(row, averageOf(row), now()));
      return { orders, complete: resting.ended };
    },

    cancel: (targets, access) => Promise.all(targets.map((target) => cancelOne(target, access))),
  };
}

/** Whether a row is the order of a record: the same id, or the same client id with the same terms. */
function isThe(record: OrderRecord, row: KalshiOrder): boolean {
  if (record.orderId !== null) return row.order_id === record.orderId;
  const { terms } = record;
  const price = terms.outcomeIndex === 0 ? row.yes_price_dollars : row.no_price_dollars;
  return (
    row.client_order_id === record.clientOrderId &&
    (row.outcome_side === 'yes') === isBid(terms) &&
    price === terms.price &&
    row.initial_count_fp === terms.size
  );
}

/** Advice on a refusal, by Kalshi's text. */
function advice(words: string): string {
  if (/balance/.test(words)) return "Fund the account: cash is held per shard, and only the market's own shard pays.";
  if (/fill or kill/.test(words))
    return 'The book cannot fill all of it now: use ioc, another price or a smaller size.';
  if (/unauthorized|forbidden|scope/.test(words))
    return 'Renew the API key; scope, region or subaccount may forbid this.';
  if (/not active|MARKET_INACTIVE/i.test(words)) return 'The market does not trade now.';
  return 'Correct price, size or side as the text says.';
}
