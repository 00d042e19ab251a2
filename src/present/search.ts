import { sql, type SQL } from 'drizzle-orm';
import { foldText, mayBegin, mayBeTypo } from '../core/search-text.ts';
import type { Platform } from '../core/model.ts';
import { withoutNul, wordsOf } from './rows.ts';

/** Words of a query for which words that begin with them, or have a typo, are found too; further ones are found as they are. */
const OPEN_WORDS = 6;
/** Words with a typo that are found for one word; the shortest ones. */
const NEAR_WORDS = 500;

/** What is searched: the caller's text, and the ids that it may be on each platform, as stored. */
export interface Search {
  query: string;
  ids: Partial<Record<Platform, readonly string[]>>;
}

/** What lists are of, each with the tables of its rows, their ranks and their former ranks. */
export type Kind = 'market' | 'event' | 'series';
export const TABLES = {
  market: { rows: sql.raw('present_markets'), id: sql.raw('platform_id') },
  event: { rows: sql.raw('present_events'), id: sql.raw('id') },
  series: { rows: sql.raw('present_series'), id: sql.raw('id') },
} as const satisfies Record<Kind, object>;

/** The version of the copy that a list shows, of each platform. */
export type Versions = Partial<Record<Platform, number>>;

/** The version of the row's platform. */
export const versionOf = (platform: SQL, versions: Versions): SQL =>
  sql`(${JSON.stringify(versions)}::jsonb ->> ${platform})::bigint`;

/** Rows that have one of the ids. */
const NAMED: Record<Kind, SQL> = {
  market: sql`SELECT n.key FROM ids JOIN present_names AS n ON n.platform = ids.platform AND n.name = ids.name`,
  event: sql`
    SELECT e.key FROM ids JOIN present_events AS e ON e.platform = ids.platform AND e.id = ids.name
    UNION SELECT e.key FROM ids JOIN present_events AS e ON e.platform = ids.platform AND e.slug = ids.name AND e.slug <> ''`,
  series: sql`SELECT s.key FROM ids JOIN present_series AS s ON s.platform = ids.platform AND s.id = ids.name`,
};

/** How rows fit a search, by their class: a multiple of this comes before all else where lists go by it. */
export const CLASS = sql`1152921504606846976::bigint`;

/**
 * The tables `terms` (whether words with a typo were looked for and found) and `found` (row and class: 3 by an id, 2 the title or
 * the id begins with the text, 1 all words begin words of the title, 0 else). With `versions`, words of later titles do not count.
 */
export function searchTables(
  { kind, platforms }: { kind: Kind; platforms: readonly Platform[] },
  { query, ids }: Search,
  versions: Versions | null,
): SQL {
  const text = foldText(query);
  const words = [...new Set(wordsOf(text))];
  const open = new Set(words.filter(mayBegin).slice(0, OPEN_WORDS));
  const asked = words.map((word) => ({
    word,
    open: open.has(word),
    near: open.has(word) && mayBeTypo(word),
  }));
  const own = withoutNul(query)
    .trim()
    .replace(new RegExp(`^(${platforms.join('|')}):`, 'i'), '')
    .toLowerCase();
  const of = sql`ANY(${sql.param(platforms)}::text[])`;
  const known = sql`v.platform = ${of} AND v.kind = ${kind}${versions === null ? sql`` : sql` AND v.version <= ${versionOf(sql`v.platform`, versions)}`}`;
  const names = Object.entries(ids).flatMap(([platform, all]) =>
    all.map((name) => ({ platform, name: withoutNul(name) })),
  );
  const { rows, id } = TABLES[kind];
  const last = sql`chr(1114111)`;
  const begin = words.map((word) => sql`strpos(' ' || m.search_title, ${` ${word}`}) > 0`);
  const begun = begin.length === 0 ? sql`false` : sql.join(begin, sql` AND `);
  return sql`
    ids AS (SELECT * FROM jsonb_to_recordset(${JSON.stringify(names)}::jsonb) AS r(platform text, name text)),
    asked AS (SELECT * FROM jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) AS r(word text, open boolean, near boolean)),
    meant AS (
      SELECT a.word, a.open, CASE WHEN a.near AND NOT EXISTS (
        SELECT FROM present_words AS v WHERE ${known} AND v.word >= a.word AND v.word < a.word || ${last}
      ) THEN (
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
    terms AS (
      SELECT string_agg('(' || quote_literal(word) || CASE WHEN open THEN ':*' ELSE '' END || coalesce('|' || typos, '') || ')', '&')::tsquery AS words,
        coalesce(bool_or(typos IS NOT NULL), false) AS has_typos
      FROM meant
    ),
    found AS (
      SELECT key, max(class) AS class FROM (
        SELECT m.key, CASE
          WHEN starts_with(m.search_title, ${text}) OR starts_with(lower(m.${id}), ${own}) THEN 2
          WHEN ${begun} THEN 1
          ELSE 0
        END AS class
        FROM ${rows} AS m WHERE m.platform = ${of} AND m.words @@ (SELECT words FROM terms)
        UNION ALL
        SELECT key, 3 FROM (${NAMED[kind]}) AS named
      ) AS matches
      GROUP BY key
    )`;
}
