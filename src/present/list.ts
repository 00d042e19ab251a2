import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Platform } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { toMarket, type PresentMarket } from './read.ts';
import { ownKey, storeKey, UNKNOWN_END_MS, withoutNul } from './rows.ts';
import { CLASS, type Search, searchTables } from './search.ts';

export const MARKET_ORDERS = [
  'volume_24h',
  'volume_total',
  'liquidity',
  'end_date',
  'created',
  'match',
  'volume_24h_usd',
  'volume_7d_usd',
  'volume_total_usd',
  'liquidity_usd',
] as const;
export const LIST_ORDERS = z.enum(MARKET_ORDERS);
type ListOrder = z.infer<typeof LIST_ORDERS>;

/** The column of present_ranks that each order of a list goes by; `match` goes by the class of the search first. */
const PLACES: Record<ListOrder, SQL> = {
  volume_24h: sql.raw('by_volume_24h'),
  volume_total: sql.raw('by_volume_total'),
  liquidity: sql.raw('by_liquidity'),
  end_date: sql.raw('by_end_date'),
  created: sql.raw('by_created'),
  match: sql.raw('by_volume_24h'),
  volume_24h_usd: sql.raw('by_volume_24h_usd'),
  volume_7d_usd: sql.raw('by_volume_7d_usd'),
  volume_total_usd: sql.raw('by_volume_total_usd'),
  liquidity_usd: sql.raw('by_liquidity'),
};

/** From when on a place is 0, where an order goes by the volume of the last days. */
const STALE: Partial<Record<ListOrder, SQL>> = {
  volume_24h: sql.raw('stale_at'),
  match: sql.raw('stale_at'),
  volume_24h_usd: sql.raw('stale_at'),
  volume_7d_usd: sql.raw('stale_week_at'),
};

/** Where a page ended, by its last row, in the list as it was at a version of the copy. */
export interface ListPlace {
  version: number;
  place: string;
  /** As in ClickHouse. */
  key: string;
}

/** What a list is made of. */
export interface ListAsked {
  platform: Platform;
  order: ListOrder;
  hidden: readonly number[];
  statuses: readonly string[];
  /** '' for all. */
  category: string;
  eventId: string;
  /** Millionths. */
  minLiquidity: bigint | null;
  endsAfterMs: number | null;
  endsBeforeMs: number | null;
  search: Search | null;
  /** When volumes of the last day are looked at. */
  atMs: number;
  after: ListPlace | null;
  limit: number;
}

export interface ListFound {
  version: number;
  /** The number of matching markets, of a first page. */
  total: number;
  /** One more than asked for, if there are more. */
  rows: FoundRow[];
}

interface FoundRow {
  place: string;
  key: string;
  market: PresentMarket | null;
  /** How a search found it, where the list goes by that. */
  match: Match | undefined;
}

const MATCHES = ['text', 'words', 'prefix', 'id'] as const;
type Match = (typeof MATCHES)[number] | 'typo';

/**
 * A page of markets in the asked order; null if former rows of its version are no longer kept. One statement. Rows that changed since
 * the version of `after` count as they were then.
 */
export async function listPresent({ db }: Pick<Postgres, 'db'>, asked: ListAsked): Promise<ListFound | null> {
  const { platform, after, search } = asked;
  const found = rowsOf(
    await db.execute(sql`
      WITH ${search ? sql`${searchTables(platform, search, after?.version ?? null)}, listed AS (${searchedRows(asked)}),` : sql``} page AS (${search ? searchedPage(asked) : pageOf(asked)})
      SELECT p.version, p.former_from, ${after ? sql`0` : countOf(asked)} AS total, r.place, r.key, ${search ? sql`r.class, (SELECT has_typos FROM terms)` : sql`0 AS class, false`} AS has_typos,
        m.ref, m.token_ids, m.info, s.state, s.trades AS stored, s.unique_traders, s.traded_since
      FROM present_platforms AS p LEFT JOIN page AS r ON true LEFT JOIN present_markets AS m USING (key) LEFT JOIN present_states AS s USING (key)
      WHERE p.platform = ${platform} ORDER BY r.place, r.key`),
  );
  const [first] = found;
  if (!first) return { version: after?.version ?? 0, total: 0, rows: [] };
  if (after && after.version < Number(first['former_from'])) return null;
  return {
    version: after?.version ?? Number(first['version']),
    total: Number(first['total']),
    rows: found.flatMap((row) => (row['key'] === null ? [] : foundRow(row, asked.order))),
  };
}

const foundRow = (row: Record<string, unknown>, order: ListOrder): FoundRow => ({
  place: String(row['place']),
  key: storeKey(String(row['key'])),
  market: row['state'] === null ? null : toMarket(row),
  match: order === 'match' ? matchOf(Number(row['class']), row['has_typos'] === true) : undefined,
});

function matchOf(fit: number, hasTypos: boolean): Match {
  const match = MATCHES[fit] ?? 'text';
  return match === 'text' && hasTypos ? 'typo' : match;
}

const all = (conditions: readonly SQL[]): SQL => sql.join([...conditions], sql` AND `);

/** Conditions beside platform, `hidden` and status. */
function filtersOf({ category, eventId, minLiquidity, endsAfterMs, endsBeforeMs }: ListAsked): SQL[] {
  return [
    ...(category === '' ? [] : [sql`category_slug = ${withoutNul(category)}`]),
    ...(eventId === '' ? [] : [sql`event_id = ${withoutNul(eventId)}`]),
    ...(minLiquidity === null ? [] : [sql`liquidity_known AND by_liquidity <= ${String(-minLiquidity)}::bigint`]),
    ...(endsAfterMs === null ? [] : [sql`by_end_date >= ${endsAfterMs}::bigint`]),
    ...(endsBeforeMs === null ? [] : [sql`by_end_date < ${endsBeforeMs}::bigint`]),
    ...(endsAfterMs === null && endsBeforeMs === null ? [] : [sql`by_end_date <> ${UNKNOWN_END_MS}::bigint`]),
  ];
}

/** Conditions of all rows of a list. */
const matching = (asked: ListAsked): SQL[] => [
  sql`platform = ${asked.platform}`,
  sql`hidden = ANY(${sql.param(asked.hidden)}::smallint[])`,
  sql`status = ANY(${sql.param(asked.statuses)}::text[])`,
  ...filtersOf(asked),
];

function countOf(asked: ListAsked): SQL {
  if (asked.search) return sql`(SELECT count(*) FROM listed)`;
  const isCounted = filtersOf({ ...asked, category: '' }).length === 0;
  return isCounted
    ? sql`(SELECT coalesce(sum(markets), 0) FROM present_counts WHERE ${all(matching(asked))})`
    : sql`(SELECT count(*) FROM present_ranks WHERE ${all(matching(asked))})`;
}

/** The place of a row, and conditions of rows of the version after the end of the page before. */
function placing({ order, after, atMs }: ListAsked) {
  const at = sql`${new Date(atMs).toISOString()}::timestamptz`;
  const staleAt = STALE[order];
  return {
    at,
    staleAt,
    place: staleAt ? sql`CASE WHEN ${staleAt} <= ${at} THEN 0 ELSE ${PLACES[order]} END` : PLACES[order],
    kept: after ? [sql`version <= ${after.version}::bigint`] : [],
    later: (place: SQL): SQL[] =>
      after ? [sql`(${place}, key) > (${after.place}::bigint, ${ownKey(after.key)}::bigint)`] : [],
  };
}

/** The rows of a page: each state of a market has its own index, read up to the limit. */
function pageOf(asked: ListAsked): SQL {
  const { platform, order, hidden, statuses, after, limit } = asked;
  const { at, staleAt, place, kept, later } = placing(asked);
  const stored = PLACES[order];
  const fresh = staleAt ? [sql`(${staleAt} IS NULL OR ${staleAt} > ${at})`] : [];
  const own = [sql`r.platform = ${platform} AND r.hidden = h.hidden AND r.status = s.status`, ...filtersOf(asked)];
  const ranked = sql`
    SELECT c.place, c.key FROM unnest(${sql.param(hidden)}::smallint[]) AS h(hidden), unnest(${sql.param(statuses)}::text[]) AS s(status),
      LATERAL (
        SELECT ${stored} AS place, key FROM present_ranks AS r WHERE ${all([...own, ...fresh, ...kept, ...later(stored)])}
        ORDER BY ${stored}, key LIMIT ${limit + 1}
      ) AS c`;
  const zero = sql`0::bigint`;
  const stale = sql`
    SELECT ${zero} AS place, key FROM present_ranks
    WHERE ${all([...matching(asked), sql`${staleAt} <= ${at}`, ...kept, ...later(zero)])}`;
  const former = sql`
    SELECT ${place} AS place, key FROM present_ranks_were
    WHERE ${all([...matching(asked), sql`until > ${after?.version}::bigint`, ...kept, ...later(place)])}`;
  const parts = [ranked, ...(staleAt ? [stale] : []), ...(after ? [former] : [])];
  return sql`SELECT place, key FROM (${sql.join(parts, sql` UNION ALL `)}) AS rows ORDER BY place, key LIMIT ${limit + 1}`;
}

/** All that a search found. */
function searchedRows(asked: ListAsked): SQL {
  const { order, after } = asked;
  const { place, kept } = placing(asked);
  const fitted = order === 'match' ? sql`(${place}) - class * ${CLASS}` : place;
  const from = (table: SQL, own: readonly SQL[]): SQL => sql`
    SELECT ${fitted} AS place, key, class FROM found JOIN ${table} USING (key) WHERE ${all([...matching(asked), ...own, ...kept])}`;
  const former = after && from(sql`present_ranks_were`, [sql`until > ${after.version}::bigint`]);
  return former ? sql`${from(sql`present_ranks`, [])} UNION ALL ${former}` : from(sql`present_ranks`, []);
}

function searchedPage(asked: ListAsked): SQL {
  const rest = placing(asked).later(sql`place`);
  return sql`
    SELECT place, key, class FROM listed ${rest.length > 0 ? sql`WHERE ${all(rest)}` : sql``}
    ORDER BY place, key LIMIT ${asked.limit + 1}`;
}
