import { z } from 'zod';

/** A listing is read as it was this long ago: longer than an insert takes to show after its clock was read. */
export const SETTLED_MS = 1000;
/** The smallest Int128: no place of a listing comes before it. */
const BEFORE_ALL = String(-(1n << 127n));

/** How many rows pass, and a page of (minus rank, key): its ascending order is the order asked for. */
export const ListRow = z.object({ total: z.coerce.number(), page: z.array(z.tuple([z.string(), z.string()])) });

/** Where a page of a listing ended, and the instant that the listing shows. */
export const ListPosition = z.object({ asOf: z.string(), rank: z.string(), key: z.string() });
type ListPosition = z.infer<typeof ListPosition>;

/** The place in a listing after which a page begins: minus rank in the high half, key in the low half. */
export const placeAfter = (position: ListPosition | null): string =>
  position ? String((-BigInt(position.rank) << 64n) | BigInt(position.key)) : BEFORE_ALL;

/** Where the next page begins, when more than `limit` rows were found; null on the last page. */
export function nextPosition(found: readonly [string, string][], limit: number, asOf: string): ListPosition | null {
  const [minusRank, key] = found[limit - 1] ?? [];
  if (found.length <= limit || minusRank === undefined || key === undefined) return null;
  return { asOf, rank: String(-BigInt(minusRank)), key };
}
