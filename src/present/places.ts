import { sql, type SQL } from 'drizzle-orm';
import type { Platform } from '../core/model.ts';
import { isPlaceKnown, isUnknown, type ListOrder, noPlace, PLACES, STALE, unknownPlace } from './list-orders.ts';
import { ownKey, UNKNOWN_END_MS, withoutNul } from './rows.ts';

/** The kind of rows that a list has. */
export type ListKind = 'market' | 'event' | 'series';
/** The kinds that have ranks. */
type RankedKind = Exclude<ListKind, 'series'>;
export const RANKS = { market: sql.raw('present_ranks'), event: sql.raw('present_event_ranks') } as const;
export const FORMER = { market: sql.raw('present_ranks_were'), event: sql.raw('present_event_ranks_were') } as const;

/** The version of the copy that a list shows, of each platform. */
export type Versions = Partial<Record<Platform, number>>;

/** SQL: the version of a row's platform. */
export const versionIn = (platform: SQL, versions: Versions): SQL =>
  sql`(${JSON.stringify(versions)}::jsonb ->> ${platform})::bigint`;

/** The caller's text, and on each platform the stored ids that it may stand for. */
export interface Search {
  query: string;
  ids: Partial<Record<Platform, readonly string[]>>;
  /** How a last word of one or two letters counts. 'wanted': needed, but left out if no row has it with the other words. */
  lastWord?: 'needed' | 'wanted' | 'left_out';
}

/** The last row of a page, and the versions of the copy that the list shows. */
export interface ListPlace {
  versions: Versions;
  place: string;
  /** As in ClickHouse. '': go on with the next place; null: go on with every row of this place. */
  key: string | null;
}

/** The filters, the order and the page of a list. A filter that is absent keeps all rows. */
export interface ListAsked {
  kind: ListKind;
  platforms: readonly Platform[];
  order: ListOrder;
  /** Against the usual direction of the order, with unknown figures still last. Only for markets, and not for `match`. */
  isReversed?: boolean | undefined;
  hidden: readonly number[];
  statuses: readonly string[];
  category?: string | undefined;
  /** Ids of events as stored, each with its platform. */
  events?: readonly (readonly [Platform, string])[] | undefined;
  /** Only for events. */
  seriesId?: string | undefined;
  /** Keys as in ClickHouse. */
  keys?: readonly string[] | undefined;
  /** Millionths of the platform's unit. */
  minLiquidity?: bigint | undefined;
  /** Millionths of a USD. */
  minLiquidityUsd?: bigint | undefined;
  endsAfterMs?: number | undefined;
  endsBeforeMs?: number | undefined;
  search?: Search | undefined;
  /** The instant at which volumes of the last day and week are taken, Unix ms. */
  atMs: number;
  after: ListPlace | null;
  limit: number;
}

/** Condition of former rows: they were replaced after the version of the list. */
const since = ({ after }: ListAsked): SQL[] =>
  after ? [sql`until > ${versionIn(sql`platform`, after.versions)}`] : [];

/** Conditions of rows that have changed since the version of a list and were in it. */
export const matchingFormer = (asked: ListAsked): SQL[] => [
  ...matching(asked),
  ...since(asked),
  ...placing(asked).kept,
];

/**
 * A few values as an array of as many parameters. PostgreSQL keeps a plan only if that seems as cheap as a new one, and it takes an array
 * in one parameter for a large one. The same holds for a limit.
 */
export const listed = (values: readonly (string | number)[], type: 'text' | 'smallint'): SQL =>
  sql`ARRAY[${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )}]::${sql.raw(type)}[]`;
/** A number of our own, as part of the statement. */
export const constant = (value: number): SQL => sql.raw(String(value));

export const all = (conditions: readonly SQL[]): SQL => sql.join([...conditions], sql` AND `);

/** Conditions beside platform, `hidden` and status. */
function filtersOf(asked: ListAsked): SQL[] {
  return [...searchedFiltersOf(asked), ...rankFiltersOf(asked)];
}

/** Filters on columns that present_searched has too. */
const searchedFiltersOf = ({ category, endsAfterMs, endsBeforeMs }: ListAsked): SQL[] => [
  ...(category === undefined ? [] : [sql`category_slug = ${withoutNul(category)}`]),
  ...(endsAfterMs === undefined ? [] : [sql`by_end_date >= ${endsAfterMs}::bigint`]),
  ...(endsBeforeMs === undefined ? [] : [sql`by_end_date < ${endsBeforeMs}::bigint`]),
  ...(endsAfterMs === undefined && endsBeforeMs === undefined ? [] : [sql`by_end_date <> ${UNKNOWN_END_MS}::bigint`]),
];

/** Filters on columns that only ranks have. */
const rankFiltersOf = ({ events, seriesId, keys, minLiquidity, minLiquidityUsd, ...asked }: ListAsked): SQL[] => [
  ...(keys === undefined ? [] : [sql`key = ANY(${sql.param(keys.map(ownKey))}::bigint[])`]),
  ...(events === undefined ? [] : [ofEvents(events)]),
  ...(seriesId === undefined
    ? []
    : [
        sql`key = ANY(ARRAY(SELECT e.key FROM present_events AS e WHERE ${ofPlatforms(asked, sql`e.`)} AND e.series_id = ${withoutNul(seriesId)}))`,
      ]),
  ...(minLiquidity === undefined ? [] : [sql`by_liquidity <= ${String(-minLiquidity)}::bigint`]),
  ...(minLiquidityUsd === undefined ? [] : [sql`by_liquidity_usd <= ${String(-minLiquidityUsd)}::bigint`]),
];

/** Condition of the markets of these events. */
export const ofEvents = (events: readonly (readonly [Platform, string])[]): SQL =>
  events.length === 0
    ? sql`false`
    : sql`(${sql.join(
        events.map(([platform, id]) => sql`platform = ${platform} AND event_id = ${withoutNul(id)}`),
        sql` OR `,
      )})`;

/** Condition on the platform. One platform is compared with `=`, so that its rows come in the order of an index. */
export const ofPlatforms = ({ platforms }: Pick<ListAsked, 'platforms'>, table = sql``): SQL =>
  platforms.length === 1
    ? sql`${table}platform = ${platforms[0]}`
    : sql`${table}platform = ANY(${listed(platforms, 'text')})`;

/** Conditions of all rows of a list. Series have no status, so their list has fewer. */
export const matching = (asked: ListAsked): SQL[] => [...matchingSearched(asked), ...rankFiltersOf(asked)];

/** The conditions on columns that present_searched has too. */
export function matchingSearched(asked: ListAsked): SQL[] {
  const of = ofPlatforms(asked);
  if (asked.kind === 'series') {
    return [of, ...(asked.category === undefined ? [] : [sql`category_slug = ${withoutNul(asked.category)}`])];
  }
  return [
    of,
    sql`hidden = ANY(${listed(asked.hidden, 'smallint')})`,
    sql`status = ANY(${listed(asked.statuses, 'text')})`,
    ...searchedFiltersOf(asked),
  ];
}

/** The number of rows of a list without a search. */
export function countOf(asked: ListAsked): SQL {
  if (asked.kind === 'series') return sql`(SELECT count(*) FROM present_series WHERE ${all(matching(asked))})`;
  const isCounted = asked.kind === 'market' && filtersOf({ ...asked, category: undefined }).length === 0;
  return isCounted
    ? sql`(SELECT coalesce(sum(markets), 0) FROM present_counts WHERE ${all(matching(asked))})`
    : sql`(SELECT count(*) FROM ${RANKS[asked.kind]} WHERE ${all(matching(asked))})`;
}

/** A row of class c gets place − c × CLASS: in the order `match`, a higher class comes before every row of a lower one. */
const CLASS = 1n << 60n;

/** The place of a row, and the conditions that it counts at the list's version and comes after the page before. */
export function placing({ kind, order, isReversed = false, after, atMs }: ListAsked) {
  const at = sql`${new Date(atMs).toISOString()}::timestamptz`;
  const staleAt = STALE[order];
  const own = isReversed
    ? sql`CASE WHEN ${isPlaceKnown(order)} THEN -(${PLACES[order]}) ELSE ${unknownPlace(order)} END`
    : PLACES[order];
  return {
    at,
    staleAt,
    place:
      kind === 'series' ? noPlace(order) : staleAt ? sql`CASE WHEN ${staleAt} <= ${at} THEN 0 ELSE ${own} END` : own,
    kept: after ? [sql`version <= ${versionIn(sql`platform`, after.versions)}`] : [],
    later: (place: SQL): SQL[] => (after ? [isLater(place, after, isReversed)] : []),
  };
}

/** ORDER BY of a page; in a reversed list rows of one place are in reverse order of their keys. */
export const byPlace = ({ isReversed }: Pick<ListAsked, 'isReversed'>, row = sql``): SQL =>
  sql`${row}place, ${row}key${isReversed ? sql` DESC` : sql``}`;

/** A place that includes the class of the row. */
export const fitted = (place: SQL, fit: SQL): SQL => sql`(${place}) - ${fit} * ${sql.raw(String(CLASS))}::bigint`;

/** Whether a row follows the last one of the page before. */
function isLater(place: SQL, { place: lastPlace, key }: ListPlace, isReversed: boolean): SQL {
  const last = sql`${lastPlace}::bigint`;
  if (key === null) return sql`${place} >= ${last}`;
  if (key === '') return sql`${place} > ${last}`;
  const lastKey = sql`${ownKey(key)}::bigint`;
  return isReversed
    ? sql`(${place} > ${last} OR (${place} = ${last} AND key < ${lastKey}))`
    : sql`(${place}, key) > (${last}, ${lastKey})`;
}

/** The rows of a page: each state has its own index, read up to the limit. */
export function pageOf(asked: ListAsked): SQL {
  const { kind, platforms, hidden, statuses, after, limit } = asked;
  if (kind === 'series') {
    const { place, kept, later } = placing(asked);
    return sql`SELECT ${place} AS place, key FROM present_series WHERE ${all([...matching(asked), ...kept, ...later(place)])} ORDER BY key LIMIT ${limit + 1}`;
  }
  const state = sql`r.platform = p.platform AND r.hidden = h.hidden AND r.status = s.status`;
  const ranked = sql`
    SELECT c.place, c.key FROM unnest(${listed(platforms, 'text')}) AS p(platform), unnest(${listed(hidden, 'smallint')}) AS h(hidden), unnest(${listed(statuses, 'text')}) AS s(status),
      LATERAL (${inOrder(asked, kind, [state, ...filtersOf(asked)])}) AS c`;
  const former = after ? sql` UNION ALL ${formerRows(asked, kind)}` : sql``;
  return sql`SELECT place, key FROM (${ranked}${staleRows(asked, kind)}${former}) AS rows ORDER BY ${byPlace(asked)} LIMIT ${limit + 1}`;
}

/** Rows whose stored place is still right, in its order. */
function inOrder(asked: ListAsked, kind: RankedKind, own: readonly SQL[]): SQL {
  const { order, isReversed, limit } = asked;
  const { at, staleAt, kept, later } = placing(asked);
  const stored = PLACES[order];
  const fresh = staleAt ? [sql`(${staleAt} IS NULL OR ${staleAt} > ${at})`] : [];
  const by = isReversed ? sql`${stored} DESC, key DESC` : sql`${stored}, key`;
  const read = (place: SQL, only: readonly SQL[]): SQL => sql`
    SELECT ${place} AS place, key FROM ${RANKS[kind]} AS r WHERE ${all([...own, ...fresh, ...kept, ...only])}
    ORDER BY ${by} LIMIT ${limit + 1}`;
  if (!isReversed) return read(stored, later(stored));
  const last = unknownPlace(order);
  const known = read(sql`-(${stored})`, [isPlaceKnown(order), ...earlier(asked)]);
  // The planner would read the keys of all markets for `=`, even where all unknown figures have one place.
  const unknown = read(last, [isUnknown(order), ...later(last)]);
  return sql`(${known}) UNION ALL (${unknown})`;
}

/** Condition of the rows with a known figure that come later in a reversed list: their stored place is smaller. */
const earlier = ({ order, after }: ListAsked): SQL[] =>
  after?.key
    ? [sql`(${PLACES[order]}, key) < (${String(-BigInt(after.place))}::bigint, ${ownKey(after.key)}::bigint)`]
    : [];

/** UNION ALL of the rows whose place became 0 since it was stored. */
function staleRows(asked: ListAsked, kind: RankedKind): SQL {
  const { at, staleAt, kept, later } = placing(asked);
  if (!staleAt) return sql``;
  const zero = sql`0::bigint`;
  return sql` UNION ALL
    SELECT ${zero} AS place, key FROM ${RANKS[kind]}
    WHERE ${all([...matching(asked), sql`${staleAt} <= ${at}`, ...kept, ...later(zero)])}`;
}

/** Rows that have changed since the version of the list, as they were then. */
function formerRows(asked: ListAsked, kind: RankedKind): SQL {
  const { place, later } = placing(asked);
  return sql`SELECT ${place} AS place, key FROM ${FORMER[kind]} WHERE ${all([...matchingFormer(asked), ...later(place)])}`;
}
