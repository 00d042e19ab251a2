import { sql, type SQL } from 'drizzle-orm';
import { foldText, mayBegin, mayBeTypo } from '../core/search-text.ts';
import type { Platform } from '../core/model.ts';
import { withoutNul, wordsOf } from './rows.ts';

/** Words of a query for which words that begin with them, or have a typo, are found too; further ones are found as they are. */
const OPEN_WORDS = 6;
/** Words with a typo that are found for one word; the shortest ones. */
const NEAR_WORDS = 500;

/** What is searched: the caller's text, and the ids that it may be, as stored. */
export interface Search {
  query: string;
  ids: readonly string[];
}

/** How rows fit a search, by their class: a multiple of this comes before all else where lists go by it. */
export const CLASS = sql`1152921504606846976::bigint`;

/**
 * The tables `terms` (whether words with a typo were looked for and found) and `found` (market and class: 3 by an id, 2 the title or
 * the id begins with the text, 1 all words begin words of the title, 0 else). With `version`, words of later titles do not count.
 */
export function searchTables(platform: Platform, { query, ids }: Search, version: number | null): SQL {
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
    .replace(new RegExp(`^${platform}:`, 'i'), '')
    .toLowerCase();
  const known = sql`v.platform = ${platform} AND v.kind = 'market'${version === null ? sql`` : sql` AND v.version <= ${version}::bigint`}`;
  const last = sql`chr(1114111)`;
  const begin = words.map((word) => sql`strpos(' ' || m.search_title, ${` ${word}`}) > 0`);
  const begun = begin.length === 0 ? sql`false` : sql.join(begin, sql` AND `);
  return sql`
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
          WHEN starts_with(m.search_title, ${text}) OR starts_with(lower(m.platform_id), ${own}) THEN 2
          WHEN ${begun} THEN 1
          ELSE 0
        END AS class
        FROM present_markets AS m WHERE m.platform = ${platform} AND m.words @@ (SELECT words FROM terms)
        UNION ALL
        SELECT n.key, 3 FROM present_names AS n WHERE n.platform = ${platform} AND n.name = ANY(${sql.param(ids.map(withoutNul))}::text[])
      ) AS matches
      GROUP BY key
    )`;
}
