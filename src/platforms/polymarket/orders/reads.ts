import { PlatformError } from '../../../core/errors.ts';
import type { OrderAccess } from '../../order-contract.ts';
import type { StoredMarket } from '../../contract.ts';
import { nullIfStatedAbsent, parseRow, parseRows } from '../../parse-rows.ts';
import type { PolymarketAccount } from '../signed-client.ts';
import { ClobOrder, ClobTrade } from './rows.ts';
import { positionModule } from '../protocol.ts';
import { askedOfRow, type Asked } from './state.ts';

const ORDER_ROW = { platform: 'polymarket', kind: 'order', idKey: 'id' } as const;
const TRADE_ROW = { platform: 'polymarket', kind: 'trade', idKey: 'id' } as const;
const MAX_PAGES = 50;
/** How far our clock and Polymarket's may differ. */
const CLOCK_MS = 60_000;

type Access = OrderAccess<'polymarket'>;

/** An order as asked for, and its row; null when the platform lists it no more. */
export interface Seen {
  asked: Asked;
  row: ClobOrder | null;
  market: StoredMarket | null;
  /** The platform has reported it, now or before. */
  placed: boolean;
  /** No trade of it is older, Unix ms. */
  sinceMs: number;
}

/** One order's row. One that is over may be null or an empty object at 200, or 404, like one that never was. */
export async function readOrder(
  account: PolymarketAccount,
  orderId: string,
  access: Access,
): Promise<ClobOrder | null> {
  const reply = await account.get(`/data/order/${encodeURIComponent(orderId)}`).catch(nullIfStatedAbsent);
  if (!reply?.json || Object.keys(reply.json).length === 0) return null;
  const parsed = parseRow(ClobOrder, reply.json, ORDER_ROW, access);
  if (!parsed) throw new PlatformError('polymarket', 'bad_answer', { detail: '/data/order: not an order' });
  return parsed.row;
}

/** Every order at work, of one market or of all; `whole` when none is missing. */
export async function readOpenOrders(
  account: PolymarketAccount,
  market: string | null,
  access: Access,
): Promise<{ seen: Seen[]; whole: boolean }> {
  const filter = market === null ? {} : inMarket(market);
  const { rows, ended } = await account.rows('/data/orders', filter, MAX_PAGES);
  const parsed = parseRows(ClobOrder, rows, ORDER_ROW, access).map(({ row }) => row);
  const wanted = parsed.filter((row) => market === null || row.market === market);
  const seen = await inTheirMarkets(wanted, access);
  return { seen, whole: ended && parsed.length === rows.length && seen.length === wanted.length };
}

/** Which spelling of a Protocol V2 condition these lists are filtered by is not documented: such a market is picked out here. */
const inMarket = (ref: string): { market?: string } => (positionModule(ref) === null ? { market: ref } : {});

/** Rows in terms of their markets; one of a market or a token that is not known here is reported and left out. */
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

/** The account's trades that may concern these orders, in one list for each market that can be asked for. */
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
  return (await Promise.all([...lists].map(read))).flat();
}

/** An order that is listed without a match has no trades. */
const mayHaveTrades = ({ row }: Seen): boolean => row === null || row.status !== 'LIVE' || row.size_matched > 0n;

/**
 * None where there are too many: an order that is still listed contains how much was matched. Of one that is not, only
 * these rows show it, so that it is an error when they cannot be read.
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
