import { sql, type SQL } from 'drizzle-orm';
import { initialsOf, mayBegin, mayBeTypo, OPEN_WORDS, searchedText } from '../core/search-text.ts';
import {
  all,
  byPlace,
  constant,
  fitted,
  FORMER,
  type ListKind,
  type ListAsked,
  matching,
  matchingFormer,
  matchingSearched,
  ofEvents,
  ofPlatforms,
  placing,
  RANKS,
  type Search,
  versionIn,
} from './places.ts';
import { ownKey, withoutNul, wordsOf } from './rows.ts';

/** Maximum words with a typo that are found for one word; the shortest ones. */
const NEAR_WORDS = 500;

/**
 * If a search finds at most this many rows, or this part of the ranks, they are looked up one by one, 3 µs each. For more, all ranks are
 * read and looked up among the found, 0.3 µs each.
 */
const FEW = { rows: 3000, part: 0.1 };

/** The table with the words of rows, and the expression of their ids. */
const SEARCHED: Record<ListKind, { table: SQL; id: SQL }> = {
  market: { table: sql.raw('present_searched'), id: sql.raw('m.id') },
  event: { table: sql.raw('present_event_searched'), id: sql.raw('m.id') },
  series: { table: sql.raw('present_series'), id: sql.raw('lower(m.id)') },
};

/** Rows that have one of the ids. */
const NAMED: Record<ListKind, SQL> = {
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
/** The one class in orders other than `match`. */
const NO_CLASS = [0] as const;

/** Whether the class of a row is part of its place. */
export const goesByClass = ({ order }: Pick<ListAsked, 'order'>): boolean => order === 'match' || order === 'match_usd';

/** A letter in a query of a tsvector. */
const quoted = (letter: string): string => `'${letter}'`;

/**
 * The tables of a search: `terms` (whether words with a typo were found), `ending` (whether the last word was left out), `found` (rows
 * and their classes) and `ranked` (those that meet all conditions, with their places). On a first page, `found` meets all conditions
 * except those on ranks. On later pages, words of titles that are newer than the list do not count.
 */
export function searchTables(asked: ListAsked, search: Search): SQL {
  const { kind } = asked;
  const titleWords = wordsOf(searchedText(search.query));
  const short = unfinished(titleWords);
  const ending = short === undefined ? 'needed' : (search.lastWord ?? 'needed');
  const shown = shownBySearch(asked);
  const textFit = goesByClass(asked) ? fitOf(asked, search.query) : sql`0`;
  const tables = [
    idsTable(search.ids),
    askedTable(search.query, [...new Set(titleWords)]),
    meantTable(asked),
    SPELLED_TABLE,
    termsTable(short),
    sql`named AS MATERIALIZED (SELECT DISTINCT key FROM (${NAMED[kind]}) AS n)`,
    sql`fitting AS (${fittingRows(kind, textFit, ending === 'left_out' ? sql`others` : sql`words`, shown)})`,
    endingTable(ending),
    foundTable(asked, { ending, textFit, shown }),
    rankedTable({ ...asked, keys: undefined }),
  ];
  return sql.join(tables, sql`, `);
}

/** The table `ids`: the names that the text may be, with their platforms. */
function idsTable(ids: Search['ids']): SQL {
  const named = Object.entries(ids).flatMap(([platform, names]) => names.map((name) => [platform, withoutNul(name)]));
  const [platforms, names] = [named.map(([platform]) => platform), named.map(([, name]) => name)];
  return sql`ids AS (SELECT * FROM unnest(${sql.param(platforms)}::text[], ${sql.param(names)}::text[]) AS r(platform, name))`;
}

/** The table `asked`: each word, whether it may begin a longer one, whether it may have a typo, and its letters if it is of initials. */
function askedTable(query: string, words: readonly string[]): SQL {
  const open = new Set(words.filter(mayBegin).slice(0, OPEN_WORDS));
  const near = words.map((word) => open.has(word) && mayBeTypo(word));
  const initials = initialsOf(query);
  const apart = words.map((word) => initials.get(word)?.map(quoted).join('&') ?? null);
  return sql`asked AS (SELECT * FROM unnest(${sql.param(words)}::text[], ${sql.param(words.map((word) => open.has(word)))}::boolean[], ${sql.param(near)}::boolean[], ${sql.param(apart)}::text[]) AS r(word, open, near, apart))`;
}

/** The table `meant`: the words of `asked`, with the words that one without a match may be a typo of. */
function meantTable(asked: ListAsked): SQL {
  const { kind, after } = asked;
  const known = sql`${ofPlatforms(asked, sql`v.`)} AND v.kind = ${kind}${after ? sql` AND v.version <= ${versionIn(sql`v.platform`, after.versions)}` : sql``}`;
  const last = sql`chr(1114111)`;
  return sql`
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
          ORDER BY length(c.word), c.word LIMIT ${constant(NEAR_WORDS)}
        ) AS n
      ) END AS typos
      FROM asked AS a
    )`;
}

/** Each word as a part of a query of a tsvector. */
const SPELLED_TABLE = sql.raw(`
    spelled AS MATERIALIZED (
      SELECT word, '(' || own || coalesce('|' || typos, '') || ')' AS term, '(' || own || ')' AS exact, typos
      FROM (SELECT *, quote_literal(word) || CASE WHEN open THEN ':*' ELSE '' END || coalesce('|' || apart, '') AS own FROM meant) AS m
    )`);

/** The table `terms`: the query of all words, and the query without the unfinished one; both also without typos. */
const termsTable = (short: string | undefined): SQL => sql`
    terms AS MATERIALIZED (
      SELECT string_agg(term, '&')::tsquery AS words, (string_agg(term, '&') FILTER (WHERE word <> ${short ?? ''}))::tsquery AS others,
        string_agg(exact, '&')::tsquery AS exact, (string_agg(exact, '&') FILTER (WHERE word <> ${short ?? ''}))::tsquery AS exact_others,
        coalesce(bool_or(typos IS NOT NULL), false) AS has_typos
      FROM spelled
    )`;

/** Rows that have the words of a query of `terms`, without those of `named`; `only` comes before the other conditions. */
const fittingRows = (kind: ListKind, textFit: SQL, words: SQL, shown: SQL, only = sql``): SQL => sql`
    SELECT key, ${textFit} AS class FROM ${SEARCHED[kind].table} AS m
    WHERE ${only}${shown} AND m.words @@ (SELECT ${words} FROM terms) AND key <> ALL(ARRAY(SELECT key FROM named))`;

type Ending = NonNullable<Search['lastWord']>;

function endingTable(ending: Ending): SQL {
  const isLeftOut =
    ending === 'wanted' ? sql`NOT EXISTS (SELECT FROM fitting)` : sql`${ending === 'left_out'}::boolean`;
  return sql`ending AS (SELECT ${isLeftOut} AS is_left_out)`;
}

/** The table `found`: rows of `named` and of `fitting`. If the last word is only wanted, also those without it, if no row has it. */
function foundTable(asked: ListAsked, { ending, textFit, shown }: { ending: Ending; textFit: SQL; shown: SQL }): SQL {
  const { kind } = asked;
  const others = fittingRows(kind, textFit, sql`others`, shown, sql`(SELECT is_left_out FROM ending) AND `);
  return sql`
    found AS MATERIALIZED (
      SELECT key, ${goesByClass(asked) ? sql`3` : sql`0`} AS class FROM named JOIN ${SEARCHED[kind].table} AS m USING (key) WHERE ${shown}
      UNION ALL
      SELECT key, class FROM fitting${ending === 'wanted' ? sql` UNION ALL ${others}` : sql``}
    )`;
}

/** The class of a row that has all words. */
function fitOf({ kind, platforms }: ListAsked, query: string): SQL {
  const text = searchedText(query);
  const ownId = withoutNul(query)
    .trim()
    .replace(new RegExp(`^(${platforms.join('|')}):`, 'i'), '')
    .toLowerCase();
  const begin = [...new Set(wordsOf(text))].map((word) => sql`strpos(' ' || m.title, ${` ${word}`}) > 0`);
  return sql`
    CASE WHEN starts_with(m.title, ${text}) OR starts_with(${SEARCHED[kind].id}, ${ownId}) THEN 2 WHEN ${begin.length === 0 ? sql`false` : all(begin)} THEN 1 ELSE 0 END`;
}

/** The conditions of a searched row. Later pages check them afterwards, on the row as it was when the list began. */
function shownBySearch(asked: ListAsked): SQL {
  const { keys, after } = asked;
  return all([
    ...(after ? [ofPlatforms(asked)] : matchingSearched(asked)),
    ...ofAskedEvents(asked),
    ...(keys === undefined ? [] : [sql`(key IN (SELECT unnest(${sql.param(keys.map(ownKey))}::bigint[]))) IS TRUE`]),
  ]);
}

/** Whether a row `r` of a page was found by a typo alone: it lacks a word as it is spelled. */
export const isTypo = ({ kind, order }: ListAsked): SQL =>
  goesByClass({ order })
    ? sql`(SELECT has_typos FROM terms) AND r.class = 0 AND NOT EXISTS (
        SELECT FROM ${SEARCHED[kind].table} AS w
        WHERE w.key = r.key AND w.words @@ (SELECT CASE WHEN is_left_out THEN exact_others ELSE exact END FROM terms, ending))`
    : sql`false`;

/** The last word if it is too short to be searched by its beginning and follows other words: a person may still be typing it. */
function unfinished(words: readonly string[]): string | undefined {
  const last = words.at(-1);
  return last !== undefined && !mayBegin(last) && words.length > 1 && words.indexOf(last) === words.length - 1
    ? last
    : undefined;
}

/** Condition of the markets of the events that are asked for: an event has few, so others are not searched. */
function ofAskedEvents(asked: ListAsked): SQL[] {
  const { kind, events, after } = asked;
  if (events === undefined || kind === 'series') return [];
  const from = (table: SQL) => sql`SELECT key FROM ${table} WHERE ${ofPlatforms(asked)} AND ${ofEvents(events)}`;
  const former = after ? sql` UNION ALL ${from(FORMER[kind])}` : sql``;
  return [sql`key IN (${from(RANKS[kind])}${former})`];
}

/** The class of a row of ranks, by hashes of `found`. IS TRUE makes the planner build each once: it expects few rows, and would join them in loops. */
const classOf = (classes: readonly number[]): SQL =>
  sql`CASE ${sql.join(
    classes.map(
      (fit) => sql`WHEN (key IN (SELECT key FROM found WHERE class = ${constant(fit)})) IS TRUE THEN ${constant(fit)}`,
    ),
    sql` `,
  )} END`;

/**
 * The table `ranked`: the rows of `found` that meet all conditions, each with its place, from the page that is asked for on. Each OFFSET 0
 * keeps the planner from merging a part with what is around it.
 */
function rankedTable(asked: ListAsked): SQL {
  const { kind, after } = asked;
  const { place, kept, later } = placing(asked);
  const table = kind === 'series' ? SEARCHED.series.table : RANKS[kind];
  const meets = [...matching(asked), ...kept];
  const classes = goesByClass(asked) ? CLASSES : NO_CLASS;
  const read = (from: SQL, only: SQL[]): SQL => sql`
    SELECT place, key, class FROM (SELECT ${place} AS place, key, ${classOf(classes)} AS class FROM ${from} WHERE ${all(only)} OFFSET 0) AS r
    WHERE class IS NOT NULL`;
  const isFew = sql`(SELECT is_few FROM size)`;
  const parts = [
    sql`
    SELECT r.place, f.key, f.class FROM found AS f, LATERAL (
      SELECT ${place} AS place FROM ${table} AS o WHERE ${all([sql`o.key = f.key`, ...meets])} OFFSET 0
    ) AS r WHERE ${isFew}`,
    read(table, [sql`NOT ${isFew}`, ...meets]),
  ];
  if (after && kind !== 'series') parts.push(read(FORMER[kind], matchingFormer(asked)));
  const rest = later(sql`place`);
  return sql`
    size AS MATERIALIZED (
      SELECT count(*) <= (SELECT greatest(${constant(FEW.rows)}, ${constant(FEW.part)} * reltuples) FROM pg_class WHERE oid = '${table}'::regclass) AS is_few FROM found
    ),
    ranked AS MATERIALIZED (
      SELECT * FROM (SELECT ${fitted(sql`place`, sql`class`)} AS place, key, class FROM (${sql.join(parts, sql` UNION ALL `)}) AS r) AS r
      ${rest.length > 0 ? sql`WHERE ${all(rest)}` : sql``}
    )`;
}

/** The rows of a page of a search, and the number of all of them for its first page. */
export const searchedPage = (asked: ListAsked): SQL =>
  sql`SELECT place, key, class FROM ranked ORDER BY ${byPlace(asked)} LIMIT ${constant(asked.limit + 1)}`;
export const searchedCount = sql`(SELECT count(*) FROM ranked)`;
