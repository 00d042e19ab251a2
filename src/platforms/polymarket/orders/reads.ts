import { PlatformError } from '../../../core/errors.ts';
import { CLOCK_MS, type OrderAccess } from '../../order-contract.ts';
import type { StoredMarket } from '../../contract.ts';
import { isStatedNotFound, notReached, nullIfStatedAbsent, parseRow, parseRows } from '../../parse-rows.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { ClobOrder, ClobTrade } from './rows.ts';
import { positionModule } from '../protocol.ts';
import { askedOfRow, type Asked } from './state.ts';

const ORDER_ROW = {
  platform: 'polymarket',
  kind: 'order',
  idKey: 'id',
  essential: [
    'id',
    'status',
    'market',
    'asset_id',
    'side',
    'original_size',
    'size_matched',
    'price',
    'order_type',
    'expiration',
  ],
} as const;
const TRADE_ROW = { platform: 'polymarket', kind: 'trade', idKey: 'id' } as const;
const MAX_PAGES = 50;
/** Readings of a list of open orders that changes while it is read. */
const MAX_READINGS = 4;

type Access = OrderAccess<'polymarket'>;

/** An order's terms and its row; null if the platform no longer lists it. */
export interface Seen {
  asked: Asked;
  row: ClobOrder | null;
  market: StoredMarket | null;
  /** The platform has reported it, now or before. */
  placed: boolean;
  /** None of its trades is older, Unix ms. */
  sinceMs: number;
}

/** Polymarket answers some failures with 404 and "not found". Such a text does not mean that the order is missing. */
export const OF_FAILURE = /:|could not|failed/i;

function nullIfNoOrder(error: unknown): null {
  if (isStatedNotFound(error) && OF_FAILURE.test(error.detail)) throw notReached(error);
  return nullIfStatedAbsent(error);
}

/** One order's row. For an ended order the answer may be null or {} with 200, or 404, as for one that never existed. */
export async function readOrder(
  account: PolymarketAccount,
  orderId: string,
  access: Access,
): Promise<ClobOrder | null> {
  const reply = await account.get(`/data/order/${encodeURIComponent(orderId)}`).catch(nullIfNoOrder);
  if (!reply?.json || Object.keys(reply.json).length === 0) return null;
  const parsed = parseRow(ClobOrder, reply.json, ORDER_ROW, access);
  if (!parsed) throw new PlatformError('polymarket', 'bad_answer', { detail: '/data/order: not an order' });
  return parsed.row;
}

/** Every working order, of one market or of all; `whole` if none is missing. */
export async function readOpenOrders(
  account: PolymarketAccount,
  market: string | null,
  access: Access,
): Promise<{ seen: Seen[]; whole: boolean }> {
  const filter = market === null ? {} : inMarket(market);
  const { rows, whole } = await openRows(account, filter, access);
  const wanted = newestOfEach(rows.filter((row) => market === null || row.market === market));
  const seen = await inTheirMarkets(wanted, access);
  return { seen, whole: whole && seen.length === wanted.length };
}

/**
 * Rows of open orders; `whole` if none is missing. Cursors count rows: when an order ends that was read, the next page leaves one out. So
 * several pages are read until the next reading still has every row of the one before.
 */
async function openRows(
  account: PolymarketAccount,
  filter: { market?: string },
  access: Access,
): Promise<{ rows: ClobOrder[]; whole: boolean }> {
  const all: ClobOrder[] = [];
  let before: ClobOrder[] | null = null;
  for (let readings = 0; readings < MAX_READINGS; readings += 1) {
    const { rows: raw, ended, pages } = await account.rows('/data/orders', filter, MAX_PAGES);
    const rows = parseRows(ClobOrder, raw, ORDER_ROW, access).map(({ row }) => row);
    all.push(...rows);
    const isRead = ended && rows.length === raw.length;
    if (!isRead) return { rows: all, whole: false };
    if (pages === 1) return { rows, whole: true };
    const ids = new Set(rows.map(({ id }) => id));
    if (before?.every(({ id }) => ids.has(id))) return { rows, whole: true };
    before = rows;
  }
  return { rows: all, whole: false };
}

/** It is not documented which spelling of a Protocol V2 condition filters these lists: such markets are filtered here. */
const inMarket = (ref: string): { market?: string } => (positionModule(ref) === null ? { market: ref } : {});

/** Rows with their markets; a row of an unknown market or token is reported and left out. */
export async function inTheirMarkets(rows: readonly ClobOrder[], access: Access): Promise<Seen[]> {
  const refs = [...new Set(rows.map((row) => row.market))];
  const markets = await access.markets.byRef('polymarket', refs);
  return rows.flatMap((row): Seen[] => {
    const market = markets.get(row.market);
    const asked = market ? askedOfRow(row, market) : null;
    if (market && asked) return [{ asked, row, market, placed: true, sinceMs: (row.created_at ?? 0) * 1000 }];
    access.onBadRow({ platform: 'polymarket', kind: 'order', id: row.id, reason: 'market or asset_id: not known' });
    return [];
  });
}

/**
 * Each row once, as it was read last: rows move from page to page while they are read, and one list may hold those of another (that
 * of a Protocol V2 market has no filter).
 */
const newestOfEach = <T extends { id: string }>(rows: readonly T[]): T[] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
];

/** The account's trades that may concern these orders, each once; one list per market that can be requested. */
export async function readTrades(
  account: PolymarketAccount,
  seen: readonly Seen[],
  access: Access,
): Promise<ClobTrade[]> {
  const lists = new Map<string | undefined, Seen[]>();
  for (const one of seen.filter(mayHaveTrades)) {
    const { market } = inMarket(one.asked.order.marketRef);
    lists.set(market, [...(lists.get(market) ?? []), one]);
  }
  const read = ([market, orders]: [string | undefined, Seen[]]) => tradesOf(account, market, orders, access);
  return newestOfEach((await Promise.all([...lists].map(read))).flat());
}

/** A listed order without a match has no trades. */
const mayHaveTrades = ({ row }: Seen): boolean => row === null || row.status !== 'LIVE' || row.size_matched > 0n;

/**
 * The trades of a market; empty if there are too many, because the row of a listed order has its matched amount. Only trades show that
 * amount of an order that is no longer listed: then too many are an error.
 */
async function tradesOf(
  account: PolymarketAccount,
  market: string | undefined,
  orders: readonly Seen[],
  access: Access,
): Promise<ClobTrade[]> {
  const since = Math.min(...orders.map(({ sinceMs }) => sinceMs)) - CLOCK_MS;
  const query = { market, after: Math.max(0, Math.floor(since / 1000)) };
  const { rows, ended } = await account.rows('/data/trades', query, MAX_PAGES);
  const gone = orders.filter(({ row }) => row === null).map(({ asked }) => asked.order.orderId);
  if (!ended && gone.length > 0) throw unreadable(`more than ${MAX_PAGES} pages`);
  if (!ended) return [];
  return rows.flatMap((raw) => {
    const trade = parseRow(ClobTrade, raw, TRADE_ROW, access)?.row;
    if (trade) return trade;
    const text = JSON.stringify(raw).toLowerCase();
    if (gone.some((orderId) => text.includes(orderId))) throw unreadable('not a trade');
    return [];
  });
}

const unreadable = (why: string): PlatformError =>
  new PlatformError('polymarket', 'bad_answer', { detail: `/data/trades: ${why}` });
