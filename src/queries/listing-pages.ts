import { z } from 'zod';
import { badRequest, type FoundIssue } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import { storeTime } from '../core/time.ts';
import { type FoundRow, listPresent } from '../present/list.ts';
import type { ListAsked, Search } from '../present/places.ts';
import type { ClickHouse, QueryParams } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { searchedIds } from './search-terms.ts';

type Reader = Pick<ClickHouse, 'query'>;

/** A listing is read as of this long ago: longer than an insert takes to become visible. */
const SETTLED_MS = 1000;
/** The smallest Int128, before every position of a listing. */
const BEFORE_ALL = String(-(1n << 127n));

/** Number of matching rows, and a page of (minus rank, key), whose ascending order is the requested one. */
const ListRow = z.object({ total: z.coerce.number(), page: z.array(z.tuple([z.string(), z.string()])) });

/** Where a page of a listing ended, the listing's time, its version in PostgreSQL, and how many rows it has. */
export const ListPosition = z.object({
  asOf: z.string(),
  version: z.int(),
  total: z.int(),
  rank: z.string(),
  key: z.string(),
});
export type ListPosition = z.infer<typeof ListPosition>;

/** The position after which a page begins: minus rank in the high half, key in the low half. */
const placeAfter = (position: ListPosition | null): string =>
  position ? String((-BigInt(position.rank) << 64n) | BigInt(position.key)) : BEFORE_ALL;

/** Where the next page begins, if more than `limit` rows were found; null on the last page. */
function nextPosition(
  found: readonly [string, string][],
  limit: number,
  of: Pick<ListPosition, 'asOf' | 'version' | 'total'>,
): ListPosition | null {
  const [minusRank, key] = found[limit - 1] ?? [];
  if (found.length <= limit || minusRank === undefined || key === undefined) return null;
  return { ...of, rank: String(-BigInt(minusRank)), key };
}

/** The refusal of a page whose list began so long ago that its order is no longer kept. */
export const expiredCursor = () =>
  badRequest(
    [{ field: 'cursor', expected: 'a cursor of a list that began in the last 10 minutes', received: 'an older one' }],
    'Start again without a cursor.',
  );

/** When a listing is read whose first page is asked for now. */
export const settledAt = (nowMs: number): string => new Date(nowMs - SETTLED_MS).toISOString();

/** The requested page: the first one, of the listing at `nowMs`, or the one after `position`. */
export interface ListingPage {
  position: ListPosition | null;
  nowMs: number;
  limit: number;
}

/** The order of a list: as asked for, else how well a search fits, else by volume. `match` without a search is the order by volume. */
export function sortOf({ sort = 'match', query }: { sort?: string | undefined; query?: string | undefined }): string {
  return sort === 'match' && query === undefined ? 'volume_24h' : sort;
}

/** Orders whose smallest or soonest comes first unless another direction is asked for. */
const ASCENDING: ReadonlySet<string> = new Set(['end_date', 'spread']);
export const DIRECTIONS = ['asc', 'desc'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** Whether a list goes against the usual direction of its order. */
export const isReversed = (sort: string, direction: Direction | undefined): boolean =>
  direction !== undefined && direction !== (ASCENDING.has(sort) ? 'asc' : 'desc');

/** The issue of a direction for `match`, which has none. */
export const directionIssues = (sort: string, direction: Direction | undefined): FoundIssue[] =>
  sort === 'match' && direction !== undefined
    ? [{ field: 'order', expected: 'no value with sort=match: the best match comes first' }]
    : [];

/** A page of a list from PostgreSQL, in one statement; null if it no longer has the list of the first page. */
export async function presentPage(
  postgres: Pick<Postgres, 'db'>,
  platform: Platform,
  listed: Omit<ListAsked, 'platforms' | 'atMs' | 'after' | 'limit'>,
  { position, nowMs, limit }: ListingPage,
): Promise<{ total: number; rows: FoundRow[]; next: ListPosition | null } | null> {
  const asOf = position?.asOf ?? settledAt(nowMs);
  const found = await listPresent(postgres, {
    ...listed,
    platforms: [platform],
    atMs: Date.parse(asOf),
    after: position && {
      versions: { [platform]: position.version },
      place: String(-BigInt(position.rank)),
      key: position.key,
    },
    limit,
  });
  if (!found) return null;
  const total = position?.total ?? found.total;
  const rows = found.rows.slice(0, limit);
  const last = found.rows.length > limit ? rows.at(-1) : undefined;
  const version = found.versions[platform] ?? 0;
  const next = last ? { asOf, version, total, rank: String(-BigInt(last.place)), key: last.key } : null;
  return { total, rows, next };
}

/** The values of present_ranks.hidden that a list shows. */
export const hiddenShown = ({
  include_placeholders: placeholders,
  include_combos: combos,
}: {
  include_placeholders: boolean;
  include_combos: boolean;
}): number[] => [0, ...(placeholders ? [1] : []), ...(combos ? [2] : []), ...(placeholders && combos ? [3] : [])];

/** What a search of one platform looks for. */
export const searchOn = (platform: Platform, query: string | undefined): Search | undefined =>
  query === undefined ? undefined : { query, ids: { [platform]: searchedIds(platform, query) } };

/** What a list is made of: its statement sql/queries/<name>.sql and its filter. `search` gives the words to look for at an instant. */
interface Listed {
  name: 'markets_list' | 'events_list';
  filter: QueryParams & { platform: Platform; sort: string };
  search?: (asOf: string) => Promise<QueryParams>;
}

/**
 * A page of a list from ClickHouse: the number of matching rows, the keys of the page, and where the next one begins.
 */
export async function listingPage(
  clickhouse: Reader,
  { name, filter, search }: Listed,
  { position, nowMs, limit }: ListingPage,
): Promise<{ total: number; keys: string[]; next: ListPosition | null }> {
  const asOf = position?.asOf ?? settledAt(nowMs);
  const [listing] = await clickhouse.query(name, ListRow, {
    ...filter,
    ...(await search?.(asOf)),
    as_of: storeTime(asOf),
    after: placeAfter(position),
    limit: limit + 1,
  });
  const { total: counted, page: found } = listing ?? { total: 0, page: [] };
  const total = position?.total ?? counted;
  const shown = found.slice(0, limit);
  return {
    total,
    keys: shown.map(([, key]) => key),
    next: nextPosition(found, limit, { asOf, version: position?.version ?? 0, total }),
  };
}
