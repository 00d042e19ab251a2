import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Platform } from '../core/model.ts';
import { foldText } from '../core/search-text.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Database } from '../stores/postgres/client.ts';
import { rowsOf } from '../stores/postgres/json-row.ts';
import { type Searched, withoutNul, wordsOf } from './rows.ts';

const Titled = z.object({
  key: z.string(),
  id: z.string(),
  title: z.string(),
  category: z.string(),
  category_slug: z.string(),
});
/** A row of sql/queries/present_events.sql. */
const EventRow = Titled.extend({
  series_id: z.string(),
  slug: z.string(),
  tags: z.array(z.string()),
  mutually_exclusive: z.boolean().nullable(),
  image_url: z.string(),
  source_url: z.string(),
  market_ids: z.array(z.string()),
});
/** A row of sql/queries/present_series.sql. */
const SeriesRow = Titled.extend({ frequency: z.string().nullable() });

const json = (rows: readonly object[]): SQL => sql`${JSON.stringify(rows)}::jsonb`;

/** What a search looks at: the title, and the words of title, category and ids. */
function searched({ id, title, category }: z.infer<typeof Titled>, slug = ''): Omit<Searched, 'key' | 'id'> {
  const folded = foldText(title);
  const others = [category, id, slug].map(foldText).join(' ');
  return { title: folded, title_words: wordsOf(folded), words: [...new Set(wordsOf(`${folded} ${others}`))] };
}

const eventOf = ({ key, id, series_id, slug, category_slug, ...facts }: z.infer<typeof EventRow>) => ({
  key,
  id: withoutNul(id),
  series_id: withoutNul(series_id),
  slug: withoutNul(slug),
  category_slug: withoutNul(category_slug),
  info: JSON.stringify({ id, series_id, ...facts }),
  ...searched({ key, id, category_slug, ...facts }, slug),
});

const seriesOf = ({ key, category_slug, ...facts }: z.infer<typeof SeriesRow>) => ({
  key,
  id: withoutNul(facts.id),
  category_slug: withoutNul(category_slug),
  info: JSON.stringify(facts),
  ...searched({ key, category_slug, ...facts }),
});

/** The events of the copied markets of these references. */
export async function eventsOfMarkets(db: Database, platform: Platform, refs: readonly string[]): Promise<string[]> {
  const rows = rowsOf(
    await db.execute(sql`
      SELECT DISTINCT r.event_id FROM present_markets AS m JOIN present_ranks AS r USING (key)
      WHERE m.platform = ${platform} AND m.ref = ANY(${sql.param(refs)}::text[]) AND r.event_id <> ''`),
  );
  return rows.map((row) => String(row['event_id']));
}

/** Copies events, whose markets are copied already, and these series and those of the events. An event without a market is removed. */
export async function storeParents(
  db: Database,
  clickhouse: Pick<ClickHouse, 'query'>,
  { platform, version, events, series }: { platform: Platform; version: string; events: string[]; series: string[] },
): Promise<void> {
  const rows = events.length === 0 ? [] : await clickhouse.query('present_events', EventRow, { platform, ids: events });
  if (rows.length > 0) {
    await db.execute(sql`
      WITH given AS (
        SELECT * FROM jsonb_to_recordset(${json(rows.map(eventOf))})
          AS r(key bigint, id text, series_id text, slug text, category_slug text, info text, title text, title_words text[], words text[])
      ),
      vocabulary AS (${vocabularyOf(platform, 'event', version)}),
      changed AS (
        INSERT INTO present_events AS old (key, platform, id, slug, series_id, category_slug, info)
        SELECT key, ${platform}, id, slug, series_id, category_slug, info FROM given
        ON CONFLICT (key) DO UPDATE SET slug = excluded.slug, series_id = excluded.series_id, category_slug = excluded.category_slug, info = excluded.info
        WHERE (old.slug, old.category_slug, old.info) IS DISTINCT FROM (excluded.slug, excluded.category_slug, excluded.info)
        RETURNING key
      )
      INSERT INTO present_event_searched (key, platform, id, title, words)
      SELECT key, ${platform}, lower(id), title, array_to_tsvector(words) FROM given JOIN changed USING (key)
      ON CONFLICT (key) DO UPDATE SET title = excluded.title, words = excluded.words`);
  }
  await storeEventRanks(db, { platform, version, events });
  const ids = [...new Set([...series, ...rows.map((row) => row.series_id)])].filter((id) => id !== '');
  const found = ids.length === 0 ? [] : await clickhouse.query('present_series', SeriesRow, { platform, ids });
  if (found.length === 0) return;
  await db.execute(sql`
    WITH given AS (
      SELECT * FROM jsonb_to_recordset(${json(found.map(seriesOf))})
        AS r(key bigint, id text, category_slug text, info text, title text, title_words text[], words text[])
    ),
    vocabulary AS (${vocabularyOf(platform, 'series', version)})
    INSERT INTO present_series AS old (key, platform, version, id, category_slug, info, title, words)
    SELECT key, ${platform}, ${version}::bigint, id, category_slug, info, title, array_to_tsvector(words) FROM given
    ON CONFLICT (key) DO UPDATE SET category_slug = excluded.category_slug, info = excluded.info, title = excluded.title, words = excluded.words
    WHERE (old.category_slug, old.info) IS DISTINCT FROM (excluded.category_slug, excluded.info)`);
}

const vocabularyOf = (platform: Platform, kind: 'event' | 'series', version: string): SQL => sql`
  INSERT INTO present_words (platform, kind, word, version)
  SELECT DISTINCT ${platform}, ${kind}, word, ${version}::bigint FROM given, unnest(title_words) AS word
  ON CONFLICT DO NOTHING`;

const SUMS = [
  'by_volume_24h',
  'by_volume_total',
  'by_liquidity',
  'liquidity_known',
  'by_end_date',
  'by_created',
  'by_volume_24h_usd',
  'by_volume_7d_usd',
  'by_volume_total_usd',
] as const;
const columns = (prefix: string): SQL =>
  sql.raw(['hidden', 'status', 'category_slug', ...SUMS].map((name) => prefix + name).join(', '));

/** Sums of events whose markets changed; what they were is kept for lists that began before. */
export async function storeEventRanks(
  db: Database,
  { platform, version, events }: { platform: Platform; version: string; events: readonly string[] },
): Promise<void> {
  if (events.length === 0) return;
  const asked = sql`${sql.param(events)}::text[]`;
  await db.execute(sql`
    INSERT INTO present_event_ranks AS old (key, platform, version, event_id, ${columns('')})
    SELECT e.key, e.platform, ${version}::bigint, e.id, s.hidden, s.status, e.category_slug, ${sql.raw(SUMS.map((name) => `s.${name}`).join(', '))}
    FROM present_events AS e, present_event_sums(e.platform, e.id) AS s WHERE e.platform = ${platform} AND e.id = ANY(${asked})
    ON CONFLICT (key) DO UPDATE SET (version, ${columns('')}) = ROW(excluded.version, ${columns('excluded.')})
    WHERE (${columns('old.')}) IS DISTINCT FROM (${columns('excluded.')})`);
  await db.execute(sql`
    WITH gone AS (
      DELETE FROM present_events AS e WHERE e.platform = ${platform} AND e.id = ANY(${asked})
        AND NOT EXISTS (SELECT FROM present_ranks AS r WHERE r.platform = e.platform AND r.event_id = e.id)
      RETURNING key
    ),
    searched AS (DELETE FROM present_event_searched AS t USING gone AS g WHERE t.key = g.key)
    DELETE FROM present_event_ranks AS r USING gone AS g WHERE r.key = g.key`);
}
