import { z } from 'zod';
import { storeTime } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';

type Reader = Pick<ClickHouse, 'query'>;

/** A listing is read as it was this long ago: longer than an insert takes to show after its clock was read. */
const SETTLED_MS = 1000;
/** The smallest Int128: no place of a listing comes before it. */
const BEFORE_ALL = String(-(1n << 127n));

/** How many rows pass, and a page of (minus rank, key): its ascending order is the order asked for. */
const ListRow = z.object({ total: z.coerce.number(), page: z.array(z.tuple([z.string(), z.string()])) });

/** Where a page of a listing ended, and the instant that the listing shows. */
export const ListPosition = z.object({ asOf: z.string(), rank: z.string(), key: z.string() });
export type ListPosition = z.infer<typeof ListPosition>;

/** The place in a listing after which a page begins: minus rank in the high half, key in the low half. */
const placeAfter = (position: ListPosition | null): string =>
  position ? String((-BigInt(position.rank) << 64n) | BigInt(position.key)) : BEFORE_ALL;

/** Where the next page begins, when more than `limit` rows were found; null on the last page. */
function nextPosition(found: readonly [string, string][], limit: number, asOf: string): ListPosition | null {
  const [minusRank, key] = found[limit - 1] ?? [];
  if (found.length <= limit || minusRank === undefined || key === undefined) return null;
  return { asOf, rank: String(-BigInt(minusRank)), key };
}

/** Which page of a listing is wanted: the first one, as the listing is at `nowMs`, or the one after `position`. */
export interface ListingPage {
  position: ListPosition | null;
  nowMs: number;
  limit: number;
}

/** A page of sql/queries/<name>.sql: how many rows pass the filter, the keys of the page, and where the next one begins. */
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
