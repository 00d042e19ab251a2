import { MANIFESTS } from '../platforms/manifests.ts';
import { z } from 'zod';
import type { WhaleTradeAnswer } from '../schemas/whale-trades.ts';
import { parseSize, type Size, sizeText, type Usd, usdText } from '../core/decimal.ts';
import { type MarketName, marketNames, type NameStores } from './market-names.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { microsecondText } from '../stores/clickhouse/insert-rows.ts';
import type { TraderName, TraderNames } from './trader-names.ts';

/** whales and whale_sizes contain trades of this size and more (sql/schema/005_whales.sql). */
const TABLE_FLOOR = parseSize('250');

/** Filter: size in contracts, notional in USD, span in Unix ms with an exclusive end. */
export interface WhaleFilter {
  platforms: readonly Platform[];
  market: StoredMarket | null;
  /** Only trades that one of these wallets took; [] for all. */
  addresses: readonly string[];
  minSize: Size;
  minNotional: Usd;
  startMs: number | undefined;
  endMs: number | undefined;
  sort: 'time' | 'size';
}

type Stores = NameStores & { traderNames: TraderNames };

/** The last trade of a page; the next page begins after it. */
export const WhalePosition = z.object({
  size: z.string(),
  atUs: z.number(),
  order: z.string(),
  tx: z.string(),
  id: z.string(),
  total: z.number(),
});
type WhalePosition = z.infer<typeof WhalePosition>;

const WhaleRow = z.object({
  platform: z.enum(PLATFORMS),
  market_key: z.string(),
  trade_id: z.string(),
  side: z.enum(['buy', 'sell']),
  outcome: z.string(),
  transaction_hash: z.string(),
  price: z.string(),
  size: z.string(),
  notional: z.string(),
  is_block: z.boolean(),
  executed_at_us: z.coerce.number(),
  trade_order: z.string(),
  id_tx: z.string(),
  id_hex: z.string(),
  wallet: z.string(),
});
type WhaleRow = z.infer<typeof WhaleRow>;
const CountRow = z.object({ trades: z.coerce.number() });

/** A page of large trades of all markets or of one, and where the next page begins. */
export async function whalePage(
  stores: Stores,
  filter: WhaleFilter,
  after: WhalePosition | null,
  limit: number,
): Promise<{ trades: z.infer<typeof WhaleTradeAnswer>[]; total: number; next: WhalePosition | null }> {
  const [rows, counted] = await Promise.all([
    readRows(stores.clickhouse, filter, after, limit + 1),
    after ? after.total : countRows(stores.clickhouse, filter),
  ]);
  // A row stored by two writers is duplicated until a merge.
  const page = [...new Map(rows.slice(0, limit).map((row) => [row.trade_id, row])).values()];
  const last = rows.length > limit ? page.at(-1) : undefined;
  // Rows may be read shortly after they were counted.
  const total = after ? counted : Math.max(counted, page.length + (last ? 1 : 0));
  return {
    trades: await describe(stores, page),
    total,
    next: last ? positionOf(last, total) : null,
  };
}

const positionOf = (row: WhaleRow, total: number): WhalePosition => ({
  size: row.size,
  atUs: row.executed_at_us,
  order: row.trade_order,
  tx: row.id_tx,
  id: row.id_hex,
  total,
});

/** Wallets are found by the index of trades. A price is at most 1, so a trade of n USD has n contracts or more: either floor may allow the smaller tables. */
export const isListed = ({ market, addresses, minSize, minNotional }: WhaleFilter): boolean =>
  market === null && addresses.length === 0 && (minSize >= TABLE_FLOOR || minNotional >= TABLE_FLOOR);

async function readRows(
  clickhouse: NameStores['clickhouse'],
  filter: WhaleFilter,
  after: WhalePosition | null,
  limit: number,
): Promise<WhaleRow[]> {
  const params = {
    ...bounds(filter),
    ...(after && {
      before_size: after.size,
      before: microsecondText(after.atUs),
      before_order: BigInt(after.order),
      before_tx: after.tx,
      before_id: after.id,
    }),
    limit,
  };
  const listed = isListed(filter);
  if (filter.sort === 'time') {
    const source = listed ? 'whales' : 'trades';
    return clickhouse.query('whales_by_time', WhaleRow, { ...params, source }, readOf(filter, source));
  }
  const bySize = (source: 'whale_sizes' | 'trades') =>
    clickhouse.query('whales_by_size', WhaleRow, { ...params, source }, readOf(filter, source));
  if (filter.market === null && filter.addresses.length === 0) {
    // whale_sizes has the largest trades for any floor; the rest is read only after these.
    const rows = await bySize('whale_sizes');
    if (listed || rows.length === limit) return rows;
  }
  return bySize('trades');
}

async function countRows(clickhouse: NameStores['clickhouse'], filter: WhaleFilter): Promise<number> {
  const hasSpan = filter.startMs !== undefined || filter.endMs !== undefined;
  const source = !isListed(filter) ? 'trades' : hasSpan ? 'whales' : 'whale_sizes';
  const name = filter.market ? 'market_whales_count' : 'whales_count';
  const [row] = await clickhouse.query(name, CountRow, { ...bounds(filter), source }, readOf(filter, source));
  return row?.trades ?? 0;
}

type Source = 'whales' | 'whale_sizes' | 'trades';
/** A read of the trades of all markets is a scan. Large trades, and those of one market, are stored next to each other. */
const readOf = ({ market }: WhaleFilter, source: Source) => ({ isScan: source === 'trades' && market === null });

/** A filter that is absent leaves its condition out of the statement. */
const bounds = ({ platforms, market, addresses, minSize, minNotional, startMs, endMs }: WhaleFilter) => ({
  platforms: platforms.length === PLATFORMS.length ? undefined : platforms,
  ref: market?.ref,
  addresses: addresses.length === 0 ? undefined : addresses,
  // A price is at most 1, so no smaller trade is worth the notional: the tables are sorted or indexed by size.
  min_size: sizeText(minNotional > minSize ? minNotional : minSize),
  min_notional: minNotional === 0n ? undefined : usdText(minNotional),
  start: startMs === undefined ? undefined : microsecondText(startMs * 1000),
  end: endMs === undefined ? undefined : microsecondText(endMs * 1000),
});

async function describe(stores: Stores, rows: WhaleRow[]) {
  const [names, traderOf] = await Promise.all([marketNames(stores, rows), stores.traderNames.of(rows)]);
  return rows.map((row) => toWhale(row, names.get(row.market_key), traderOf(row)));
}

function toWhale(
  row: WhaleRow,
  market: MarketName | undefined,
  trader: TraderName | undefined,
): z.infer<typeof WhaleTradeAnswer> {
  const { platform } = row;
  return {
    trade_id: row.trade_id,
    market_id: market?.market_id ?? '',
    platform,
    market_title: market?.title ?? '',
    outcome_name: market?.outcome_name ?? null,
    side: row.side,
    outcome: row.outcome,
    price: Number(row.price),
    size: Number(row.size),
    notional_value: Number(row.notional),
    timestamp: Math.floor(row.executed_at_us / 1e6),
    transaction_hash: row.transaction_hash,
    trader: {
      address: MANIFESTS[platform].walletText(row.wallet),
      name: trader?.name ?? '',
      pseudonym: trader?.pseudonym ?? '',
      profile_image: trader?.profile_image ?? '',
    },
    metadata: {
      executed_at: new Date(Math.floor(row.executed_at_us / 1000)).toISOString(),
      ...MANIFESTS[platform].whaleMetadata({ isBlock: row.is_block }),
    },
  };
}
