import { sql, type SQL } from 'drizzle-orm';
import { initialsOf, mayBegin, mayBeTypo, OPEN_WORDS, searchedText } from '../core/search-text.ts';
import {
  all,
  byPlace,
  fitted,
  formerRows,
  FORMER,
  type Kind,
  type ListAsked,
  matching,
  matchingSearched,
  pageAmong,
  ofPlatforms,
  placing,
  rankFiltersOf,
  RANKS,
  type Search,
  versionOf,
} from './places.ts';
import { withoutNul, wordsOf } from './rows.ts';

/** Maximum words with a typo that are found for one word; the shortest ones. */
const NEAR_WORDS = 500;

/**
 * If a class has at most this many rows, all are looked up and sorted. A larger class is read in order until the page is full: some 3,000
 * of 200,000 rows for a page of 50.
 */
const MANY = 3000;

/** The table with the words of rows, and the expression of their ids. */
const SEARCHED: Record<Kind, { table: SQL; id: SQL }> = {
  market: { table: sql.raw('present_searched'), id: sql.raw('m.id') },
  event: { table: sql.raw('present_event_searched'), id: sql.raw('m.id') },
  series: { table: sql.raw('present_series'), id: sql.raw('lower(m.id)') },
};

/** Rows that have one of the ids. */
const NAMED: Record<Kind, SQL> = {
  market: sql`SELECT n.key FROM ids JOIN present_names AS n ON n.platform = ids.platform AND n.name = ids.name`,
  event: sql`
    SELECT e.key FROM ids JOIN present_events AS e ON e.platform = ids.platform AND e.id = ids.name
    UNION SELECT e.key FROM ids JOIN present_events AS e ON e.platform = ids.platform AND e.slug = ids.name AND e.slug <> ''`,
  series: sql`SELECT s.key FROM ids JOIN present_series AS s ON s.platform = ids.platform AND s.id = ids.name`,
};

/**
 * Classes of rows that a search found. 3: the text is an id. 2: the title or the id begins with the text. 1: each word of the text begins a
 * word of the title. 0: all others.
 */
const CLASSES = [3, 2, 1, 0] as const;
/** The classes that may have many rows. */
const LARGE_CLASSES = [2, 1, 0] as const;
/** The one class in orders other than `match`. */
const NO_CLASS = [0] as const;

const goesByClass = ({ order }: ListAsked): boolean => order === 'match' || order === 'match_usd';

/** A letter in a query of a tsvector. */
const quoted = (letter: string): string => `'${letter}'`;

/**
 * The tables of a search: `terms` (whether words with a typo were found), `ending` (whether the last word was left out), `found` (rows
 * and their classes) and `classes` (the number of rows of each). On a first page, `found` meets all conditions except those on ranks.
 * On later pages, words of titles that are newer than the list do not count.
 */
export function searchTables(asked: ListAsked, { query, ids, lastWord = 'needed' }: Search): SQL {
  const { kind, platforms, after } = asked;
  const text = searchedText(query);
  const every = wordsOf(text);
  const words = [...new Set(every)];
  const short = unfinished(every);
  const open = new Set(words.filter(mayBegin).slice(0, OPEN_WORDS));
  const own = withoutNul(query)
    .trim()
    .replace(new RegExp(`^(${platforms.join('|')}):`, 'i'), '')
    .toLowerCase();
  const known = sql`${ofPlatforms(asked, sql`v.`)} AND v.kind = ${kind}${after ? sql` AND v.version <= ${versionOf(sql`v.platform`, after.versions)}` : sql``}`;
  const near = words.map((word) => open.has(word) && mayBeTypo(word));
  const initials = initialsOf(query);
  const apart = words.map((word) => initials.get(word)?.map(quoted).join('&') ?? null);
  const named = Object.entries(ids).flatMap(([platform, every]) => every.map((name) => [platform, withoutNul(name)]));
  const { table, id } = SEARCHED[kind];
  const last = sql`chr(1114111)`;
  const begin = words.map((word) => sql`strpos(' ' || m.title, ${` ${word}`}) > 0`);
  const fit = sql`
    CASE WHEN starts_with(m.title, ${text}) OR starts_with(${id}, ${own}) THEN 2 WHEN ${begin.length === 0 ? sql`false` : all(begin)} THEN 1 ELSE 0 END`;
  const [namedFit, textFit] = goesByClass(asked) ? [sql`3`, fit] : [sql`0`, sql`0`];
  // On later pages the conditions are checked afterwards: a row may have met them only at the version of the list.
  const shown = all([...(after ? [ofPlatforms(asked)] : matchingSearched(asked)), ...ofEvent(asked)]);
  const ending = short === undefined ? 'needed' : lastWord;
  const fitting = (words: SQL, only = sql``): SQL => sql`
    SELECT key, ${textFit} AS class FROM ${table} AS m
    WHERE ${only}${shown} AND m.words @@ (SELECT ${words} FROM terms) AND key <> ALL(ARRAY(SELECT key FROM named))`;
  const isLeftOut =
    ending === 'wanted' ? sql`NOT EXISTS (SELECT FROM fitting)` : sql`${ending === 'left_out'}::boolean`;
  const others = fitting(sql`others`, sql`(SELECT is_left_out FROM ending) AND `);
  return sql`
    ids AS (SELECT * FROM unnest(${sql.param(named.map(([platform]) => platform))}::text[], ${sql.param(named.map(([, name]) => name))}::text[]) AS r(platform, name)),
    asked AS (SELECT * FROM unnest(${sql.param(words)}::text[], ${sql.param(words.map((word) => open.has(word)))}::boolean[], ${sql.param(near)}::boolean[], ${sql.param(apart)}::text[]) AS r(word, open, near, apart)),
    meant AS MATERIALIZED (
      SELECT a.word, a.open, a.apart, CASE WHEN a.near AND (
        SELECT v.word FROM present_words AS v WHERE ${known} AND v.word >= a.word AND v.word < a.word || ${last} ORDER BY v.word LIMIT 1
      ) IS NULL THEN (
        SELECT string_agg(quote_literal(n.word), '|') FROM (
          SELECT c.word FROM (
            SELECT v.word FROM present_words AS v
            WHERE ${known} AND v.word >= left(a.word, (length(a.word) - 1) / 2) AND v.word < left(a.word, (length(a.word) - 1) / 2) || ${last}
            UNION
            SELECT v.word FROM present_words AS v
            WHERE ${known} AND reverse(v.word) >= reverse(right(a.word, (length(a.word) - 1) / 2))
              AND reverse(v.word) < reverse(right(a.word, (length(a.word) - 1) / 2)) || ${last}
          ) AS c
          WHERE abs(length(c.word) - length(a.word)) <= 1 AND is_one_typo(c.word, a.word)
          ORDER BY length(c.word), c.word LIMIT ${NEAR_WORDS}
        ) AS n
      ) END AS typos
      FROM asked AS a
    ),
    spelled AS MATERIALIZED (
      SELECT word, '(' || quote_literal(word) || CASE WHEN open THEN ':*' ELSE '' END || coalesce('|' || typos, '') || coalesce('|' || apart, '') || ')' AS term, typos FROM meant
    ),
    terms AS MATERIALIZED (
      SELECT string_agg(term, '&')::tsquery AS words, (string_agg(term, '&') FILTER (WHERE word <> ${short ?? ''}))::tsquery AS others,
        coalesce(bool_or(typos IS NOT NULL), false) AS has_typos
      FROM spelled
    ),
    named AS MATERIALIZED (SELECT DISTINCT key FROM (${NAMED[kind]}) AS n),
    fitting AS (${fitting(ending === 'left_out' ? sql`others` : sql`words`)}),
    ending AS (SELECT ${isLeftOut} AS is_left_out),
    found AS MATERIALIZED (
      SELECT key, ${namedFit} AS class FROM named JOIN ${table} AS m USING (key) WHERE ${shown}
      UNION ALL
      SELECT key, class FROM fitting${ending === 'wanted' ? sql` UNION ALL ${others}` : sql``}
    ),
    classes AS MATERIALIZED (SELECT class, count(*) AS rows FROM found GROUP BY class)`;
}

/** The last word if it is too short to be searched by its beginning and follows other words: a person may still be typing it. */
function unfinished(words: readonly string[]): string | undefined {
  const last = words.at(-1);
  return last !== undefined && !mayBegin(last) && words.length > 1 && words.indexOf(last) === words.length - 1
    ? last
    : undefined;
}

/** Condition of the markets of the event that is asked for: an event has few, so others are not searched. */
function ofEvent(asked: ListAsked): SQL[] {
  const { kind, eventId, after } = asked;
  if (eventId === '' || kind === 'series') return [];
  const from = (table: SQL) =>
    sql`SELECT key FROM ${table} WHERE ${ofPlatforms(asked)} AND event_id = ${withoutNul(eventId)}`;
  const former = after ? sql` UNION ALL ${from(FORMER[kind])}` : sql``;
  return [sql`key IN (${from(RANKS[kind])}${former})`];
}

/** Rows of `found` of a class. IS TRUE makes the planner hash them once instead of joining them. */
const inClass = (fit: number): SQL => sql`(key IN (SELECT key FROM found WHERE class = ${fit})) IS TRUE`;

/** Adds the class to rows with place and key. */
const ofClass = (rows: SQL, fit: number): SQL =>
  sql`SELECT ${fitted(sql`place`, sql`${fit}::bigint`)} AS place, key, ${fit}::int AS class FROM (${rows}) AS rows`;

/** The rows of a page of a search, from its tables. */
export function searchedPage(asked: ListAsked): SQL {
  const { kind, after, limit } = asked;
  const rest = placing(asked).later(sql`place`);
  const few = kind === 'series' ? sql`true` : sql`class = ANY(ARRAY(SELECT class FROM classes WHERE rows <= ${MANY}))`;
  const sorted = sql`SELECT place, key, class FROM (${rowsOfFound(asked, few)}) AS rows ${rest.length > 0 ? sql`WHERE ${all(rest)}` : sql``}`;
  const parts = [sorted];
  if (kind !== 'series') {
    for (const fit of goesByClass(asked) ? LARGE_CLASSES : NO_CLASS) {
      const isLarge = sql`(SELECT rows FROM classes WHERE class = ${fit}) > ${MANY}`;
      parts.push(ofClass(pageAmong(asked, kind, [isLarge, inClass(fit)], fit), fit));
    }
    if (after) {
      for (const fit of goesByClass(asked) ? CLASSES : NO_CLASS)
        parts.push(ofClass(formerRows(asked, kind, [inClass(fit)], fit), fit));
    }
  }
  return sql`SELECT place, key, class FROM (${sql.join(parts, sql` UNION ALL `)}) AS page ORDER BY ${byPlace(asked)} LIMIT ${limit + 1}`;
}

/** Current rows of `found` that meet `only`. OFFSET 0 makes the planner look each one up by its key. */
function rowsOfFound(asked: ListAsked, only: SQL): SQL {
  const { kind } = asked;
  const { place, kept } = placing(asked);
  return sql`
    SELECT ${fitted(sql`r.place`, sql`f.class`)} AS place, f.key, f.class FROM (SELECT key, class FROM found WHERE ${only}) AS f, LATERAL (
      SELECT ${place} AS place FROM ${kind === 'series' ? SEARCHED.series.table : RANKS[kind]} AS o WHERE ${all([sql`o.key = f.key`, ...matching(asked), ...kept])} OFFSET 0
    ) AS r`;
}

/** The number of rows that a search finds, for its first page. */
export function searchedCount(asked: ListAsked): SQL {
  const { kind } = asked;
  const known = sql`(SELECT count(*) FROM found)`;
  if (kind === 'series' || rankFiltersOf(asked).length === 0) return known;
  return sql`
    CASE WHEN ${known} <= ${MANY} THEN (SELECT count(*) FROM (${rowsOfFound(asked, sql`true`)}) AS rows)
      ELSE (SELECT count(*) FROM ${RANKS[kind]} WHERE ${all(matching(asked))} AND (key IN (SELECT key FROM found)) IS TRUE) END`;
}
