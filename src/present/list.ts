import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Platform } from '../core/model.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { type PresentEvent, type PresentMarket, type PresentSeries, toEvent, toMarket } from './read.ts';
import { ownKey, storeKey, UNKNOWN_END_MS, withoutNul } from './rows.ts';
import { CLASS, type Kind, type Search, searchTables, type Versions, versionOf } from './search.ts';

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
/** `match_usd` is `match` over platforms whose volumes have different units. */
type ListOrder = z.infer<typeof LIST_ORDERS> | 'match_usd';

/** The column of present_ranks that each order of a list goes by; `match` goes by the class of the search first. */
const PLACES: Record<ListOrder, SQL> = {
  volume_24h: sql.raw('by_volume_24h'),
  volume_total: sql.raw('by_volume_total'),
  liquidity: sql.raw('by_liquidity'),
  end_date: sql.raw('by_end_date'),
  created: sql.raw('by_created'),
  match: sql.raw('by_volume_24h'),
  match_usd: sql.raw('by_volume_24h_usd'),
  volume_24h_usd: sql.raw('by_volume_24h_usd'),
  volume_7d_usd: sql.raw('by_volume_7d_usd'),
  volume_total_usd: sql.raw('by_volume_total_usd'),
  liquidity_usd: sql.raw('by_liquidity'),
};

/** From when on a place is 0, where an order goes by the volume of the last days. */
const STALE: Partial<Record<ListOrder, SQL>> = {
  volume_24h: sql.raw('stale_at'),
  match: sql.raw('stale_at'),
  match_usd: sql.raw('stale_at'),
  volume_24h_usd: sql.raw('stale_at'),
  volume_7d_usd: sql.raw('stale_week_at'),
};

/** Where a page ended, by its last row, in the list as it was at a version of the copy. */
export interface ListPlace {
  versions: Versions;
  place: string;
  /** As in ClickHouse; '' for every row of a later place, null for every row of this place too. */
  key: string | null;
}

/** What a list is made of. */
export interface ListAsked {
  kind: Kind;
  platforms: readonly Platform[];
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
  versions: Versions;
  /** The number of matching rows, of a first page. */
  total: number;
  /** One more than asked for, if there are more. */
  rows: FoundRow[];
}

export interface FoundRow {
  platform: Platform;
  place: string;
  key: string;
  market: PresentMarket | null;
  event: PresentEvent | null;
  series: PresentSeries | null;
  /** How a search found it, where the list goes by that. */
  match: Match | undefined;
}

const MATCHES = ['text', 'words', 'prefix', 'id'] as const;
type Match = (typeof MATCHES)[number] | 'typo';

/** What is read of the rows of a page `r`. */
const READ: Record<Kind, SQL> = {
  market: sql`
    m.ref, m.token_ids, m.info, s.state, s.trades AS stored, s.unique_traders, s.traded_since, m.platform
    FROM listed_page AS r LEFT JOIN present_markets AS m USING (key) LEFT JOIN present_states AS s USING (key)`,
  event: sql`
    m.platform, m.info, f.*, ARRAY(
      SELECT c.platform_id FROM present_ranks AS o JOIN present_markets AS c USING (key)
      WHERE o.platform = m.platform AND o.event_id = m.id AND o.hidden = f.hidden ORDER BY length(c.platform_id), c.platform_id COLLATE "C"
    ) AS ids
    FROM listed_page AS r LEFT JOIN present_events AS m USING (key) LEFT JOIN LATERAL present_event_sums(m.platform, m.id) AS f ON true`,
  series: sql`
    m.platform, m.info, c.events, c.open_events
    FROM listed_page AS r LEFT JOIN present_series AS m USING (key) LEFT JOIN LATERAL (
      SELECT count(*) AS events, count(*) FILTER (WHERE o.status = 'open') AS open_events
      FROM present_events AS e JOIN present_event_ranks AS o USING (key)
      WHERE e.platform = m.platform AND e.series_id = m.id AND o.hidden = 0
    ) AS c ON true`,
};

/**
 * A page of a list in the asked order; null if former rows of its version are no longer kept. One statement. Rows that changed since
 * the version of `after` count as they were then.
 */
export async function listPresent({ db }: Pick<Postgres, 'db'>, asked: ListAsked): Promise<ListFound | null> {
  const { kind, platforms, after, search } = asked;
  const found = rowsOf(
    await db.execute(sql`
      WITH ${search ? sql`${searchTables(asked, search, after?.versions ?? null)}, listed AS (${searchedRows(asked)}),` : sql``}
        listed_page AS (${search ? searchedPage(asked) : pageOf(asked)}),
        copies AS (SELECT jsonb_object_agg(platform, version) AS versions, jsonb_object_agg(platform, former_from) AS former
          FROM present_platforms WHERE platform = ANY(${sql.param(platforms)}::text[]))
      SELECT v.versions::text, v.former::text, ${after ? sql`0` : countOf(asked)} AS total, d.*
      FROM copies AS v LEFT JOIN (
        SELECT r.place, r.key, ${search ? sql`r.class, (SELECT has_typos FROM terms)` : sql`0 AS class, false`} AS has_typos, ${READ[kind]}
      ) AS d ON true
      ORDER BY d.place, d.key`),
  );
  const [first] = found;
  const versions = JSON.parse(String(first?.['versions'] ?? '{}')) as Versions;
  const former = JSON.parse(String(first?.['former'] ?? '{}')) as Versions;
  if (after && platforms.some((platform) => (after.versions[platform] ?? 0) < (former[platform] ?? 0))) return null;
  return {
    versions: after?.versions ?? versions,
    total: Number(first?.['total'] ?? 0),
    rows: found.flatMap((row) => (row['key'] == null ? [] : foundRow(row, asked))),
  };
}

const foundRow = (row: Record<string, unknown>, { kind, order }: ListAsked): FoundRow => ({
  platform: row['platform'] as Platform,
  place: String(row['place']),
  key: storeKey(String(row['key'])),
  market: kind === 'market' && row['state'] !== null ? toMarket(row) : null,
  event: kind === 'event' && row['info'] !== null && row['hidden'] !== null ? toEvent(row) : null,
  series:
    kind === 'series' && row['info'] !== null
      ? { info: row['info'] as string, events: Number(row['events']), openEvents: Number(row['open_events']) }
      : null,
  match:
    order === 'match' || order === 'match_usd' ? matchOf(Number(row['class']), row['has_typos'] === true) : undefined,
});

function matchOf(fit: number, hasTypos: boolean): Match {
  const match = MATCHES[fit] ?? 'text';
  return match === 'text' && hasTypos ? 'typo' : match;
}

const RANKS = { market: sql.raw('present_ranks'), event: sql.raw('present_event_ranks') } as const;
const FORMER = { market: sql.raw('present_ranks_were'), event: sql.raw('present_event_ranks_were') } as const;

/** Former rows that counted at the version of the list. */
const since = ({ after }: ListAsked): SQL[] =>
  after ? [sql`until > ${versionOf(sql`platform`, after.versions)}`] : [];

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
  sql`platform = ANY(${sql.param(asked.platforms)}::text[])`,
  sql`hidden = ANY(${sql.param(asked.hidden)}::smallint[])`,
  sql`status = ANY(${sql.param(asked.statuses)}::text[])`,
  ...filtersOf(asked),
];

function countOf(asked: ListAsked): SQL {
  if (asked.search) return sql`(SELECT count(*) FROM listed)`;
  if (asked.kind === 'series') return sql`(SELECT count(*) FROM present_series WHERE ${all(ofSeries(asked))})`;
  const isCounted = asked.kind === 'market' && filtersOf({ ...asked, category: '' }).length === 0;
  return isCounted
    ? sql`(SELECT coalesce(sum(markets), 0) FROM present_counts WHERE ${all(matching(asked))})`
    : sql`(SELECT count(*) FROM ${RANKS[asked.kind]} WHERE ${all(matching(asked))})`;
}

/** The place of a row, and conditions of rows of the version after the end of the page before. */
function placing({ kind, order, after, atMs }: ListAsked) {
  const at = sql`${new Date(atMs).toISOString()}::timestamptz`;
  const staleAt = STALE[order];
  return {
    at,
    staleAt,
    place:
      kind === 'series'
        ? sql`${NO_PLACE[order] ?? 1_000_000}::bigint`
        : staleAt
          ? sql`CASE WHEN ${staleAt} <= ${at} THEN 0 ELSE ${PLACES[order]} END`
          : PLACES[order],
    kept: after ? [sql`version <= ${versionOf(sql`platform`, after.versions)}`] : [],
    later: (place: SQL): SQL[] => (after ? [isLater(place, after)] : []),
  };
}

/** Whether a row follows the last one of the page before. */
function isLater(place: SQL, { place: last, key }: ListPlace): SQL {
  if (key === null) return sql`${place} >= ${last}::bigint`;
  return key === ''
    ? sql`${place} > ${last}::bigint`
    : sql`(${place}, key) > (${last}::bigint, ${ownKey(key)}::bigint)`;
}

/** Places of rows that have none of the figures: as those of which nothing is known. */
const NO_PLACE: Partial<Record<ListOrder, number>> = { end_date: UNKNOWN_END_MS, created: 0 };

/** Conditions of series, which have no state of their own. */
const ofSeries = (asked: ListAsked): SQL[] => [
  sql`platform = ANY(${sql.param(asked.platforms)}::text[])`,
  ...(asked.category === '' ? [] : [sql`category_slug = ${withoutNul(asked.category)}`]),
  ...placing(asked).kept,
];

/** The rows of a page: each state of a market has its own index, read up to the limit. */
function pageOf(asked: ListAsked): SQL {
  const { kind, platforms, order, hidden, statuses, after, limit } = asked;
  const { at, staleAt, place, kept, later } = placing(asked);
  if (kind === 'series') {
    return sql`SELECT ${place} AS place, key FROM present_series WHERE ${all([...ofSeries(asked), ...later(place)])} ORDER BY key LIMIT ${limit + 1}`;
  }
  const ranks = RANKS[kind];
  const stored = PLACES[order];
  const fresh = staleAt ? [sql`(${staleAt} IS NULL OR ${staleAt} > ${at})`] : [];
  const own = [sql`r.platform = p.platform AND r.hidden = h.hidden AND r.status = s.status`, ...filtersOf(asked)];
  const ranked = sql`
    SELECT c.place, c.key FROM unnest(${sql.param(platforms)}::text[]) AS p(platform), unnest(${sql.param(hidden)}::smallint[]) AS h(hidden), unnest(${sql.param(statuses)}::text[]) AS s(status),
      LATERAL (
        SELECT ${stored} AS place, key FROM ${ranks} AS r WHERE ${all([...own, ...fresh, ...kept, ...later(stored)])}
        ORDER BY ${stored}, key LIMIT ${limit + 1}
      ) AS c`;
  const zero = sql`0::bigint`;
  const stale = sql`
    SELECT ${zero} AS place, key FROM ${ranks}
    WHERE ${all([...matching(asked), sql`${staleAt} <= ${at}`, ...kept, ...later(zero)])}`;
  const former = sql`
    SELECT ${place} AS place, key FROM ${FORMER[kind]}
    WHERE ${all([...matching(asked), ...since(asked), ...kept, ...later(place)])}`;
  const parts = [ranked, ...(staleAt ? [stale] : []), ...(after ? [former] : [])];
  return sql`SELECT place, key FROM (${sql.join(parts, sql` UNION ALL `)}) AS rows ORDER BY place, key LIMIT ${limit + 1}`;
}

/** All that a search found. */
function searchedRows(asked: ListAsked): SQL {
  const { kind, order, after } = asked;
  const { place, kept } = placing(asked);
  const fitted = order === 'match' || order === 'match_usd' ? sql`(${place}) - class * ${CLASS}` : place;
  const from = (table: SQL, own: readonly SQL[]): SQL => sql`
    SELECT ${fitted} AS place, key, class FROM found JOIN ${table} USING (key) WHERE ${all([...matching(asked), ...own, ...kept])}`;
  if (kind === 'series') {
    return sql`SELECT ${fitted} AS place, key, class FROM found JOIN present_series USING (key) WHERE ${all(ofSeries(asked))}`;
  }
  const current = from(RANKS[kind], []);
  return after ? sql`${current} UNION ALL ${from(FORMER[kind], since(asked))}` : current;
}

function searchedPage(asked: ListAsked): SQL {
  const rest = placing(asked).later(sql`place`);
  return sql`
    SELECT place, key, class FROM listed ${rest.length > 0 ? sql`WHERE ${all(rest)}` : sql``}
    ORDER BY place, key LIMIT ${asked.limit + 1}`;
}
