import { z } from 'zod';
import { storeTime } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

type Reader = Pick<ClickHouse, 'query'>;

/** A listing is read as of this long ago: longer than an insert takes to become visible. */
const SETTLED_MS = 1000;
/** The smallest Int128, before every position of a listing. */
const BEFORE_ALL = String(-(1n << 127n));

/** Number of matching rows, and a page of (minus rank, key), whose ascending order is the requested one. */
const ListRow = z.object({ total: z.coerce.number(), page: z.array(z.tuple([z.string(), z.string()])) });

/** Where a page of a listing ended, and the time of the listing. */
export const ListPosition = z.object({ asOf: z.string(), rank: z.string(), key: z.string() });
export type ListPosition = z.infer<typeof ListPosition>;

/** The position after which a page begins: minus rank in the high half, key in the low half. */
const placeAfter = (position: ListPosition | null): string =>
  position ? String((-BigInt(position.rank) << 64n) | BigInt(position.key)) : BEFORE_ALL;

/** Where the next page begins, if more than `limit` rows were found; null on the last page. */
function nextPosition(found: readonly [string, string][], limit: number, asOf: string): ListPosition | null {
  const [minusRank, key] = found[limit - 1] ?? [];
  if (found.length <= limit || minusRank === undefined || key === undefined) return null;
  return { asOf, rank: String(-BigInt(minusRank)), key };
}

/** The requested page: the first one, of the listing at `nowMs`, or the one after `position`. */
export interface ListingPage {
  position: ListPosition | null;
  nowMs: number;
  limit: number;
}

/** A page of sql/queries/<name>.sql: the number of matching rows, the keys of the page, and where the next one begins. */
export async function listingPage(
  clickhouse: Reader,
  name: 'markets_list' | 'events_list',
  filter: object,
  { position, nowMs, limit }: ListingPage,
): Promise<{ total: number; keys: string[]; next: ListPosition | null }> {
  const asOf = position?.asOf ?? new Date(nowMs - SETTLED_MS).toISOString();
  const [listing] = await clickhouse.query(name, ListRow, {
    ...filter,
    as_of: storeTime(asOf),
    after: placeAfter(position),
    limit: limit + 1,
  });
  const { total, page: found } = listing ?? { total: 0, page: [] };
  return { total, keys: found.slice(0, limit).map(([, key]) => key), next: nextPosition(found, limit, asOf) };
}
