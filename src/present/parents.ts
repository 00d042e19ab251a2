import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { searchedText } from '../core/search-text.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Database } from '../stores/postgres/client.ts';
import { jsonbOf, rowsOf } from '../stores/postgres/json-row.ts';
import type { ListKind } from './places.ts';
import { type Searched, wordsOf } from './rows.ts';

/** A row of sql/queries/present_parents.sql: an event or a series. A series has only title, category and frequency. */
export const ParentRow = z.object({
  kind: z.enum(['event', 'series']),
  of_platform: z.enum(PLATFORMS),
  key: z.string(),
  id: z.string(),
  series_id: z.string(),
  slug: z.string(),
  title: z.string(),
  category: z.string(),
  category_slug: z.string(),
  tags: z.array(z.string()),
  mutually_exclusive: z.boolean().nullable(),
  image_url: z.string(),
  source_url: z.string(),
  market_ids: z.array(z.string()),
  frequency: z.string().nullable(),
});
export type ParentRow = z.infer<typeof ParentRow>;

const UncopiedRow = z.object({ kind: z.enum(['events', 'series']), platform: z.enum(PLATFORMS), id: z.string() });

/** An event or a series. */
type ParentId = z.infer<typeof UncopiedRow>;

/** Events and series, each once. */
export class ParentIds {
  readonly #ids = new Map<string, ParentId>();

  constructor(ids: Iterable<ParentId> = []) {
    this.addAll(ids);
  }

  get events(): ParentId[] {
    return this.#ofKind('events');
  }

  get series(): ParentId[] {
    return this.#ofKind('series');
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Adds ids; '' means none and is left out. */
  add(
    platform: Platform,
    { events = [], series = [] }: { events?: Iterable<string>; series?: Iterable<string> },
  ): void {
    for (const id of events) this.addAll([{ kind: 'events', platform, id }]);
    for (const id of series) this.addAll([{ kind: 'series', platform, id }]);
  }

  addAll(ids: Iterable<ParentId>): void {
    for (const one of ids) if (one.id !== '') this.#ids.set(`${one.kind} ${one.platform} ${one.id}`, one);
  }

  [Symbol.iterator](): Iterator<ParentId> {
    return this.#ids.values();
  }

  #ofKind(kind: ParentId['kind']): ParentId[] {
    return [...this].filter((one) => one.kind === kind);
  }
}

/** What is searched: the title, and the words of title, category and ids. */
function searched({ id, slug, title, category }: ParentRow): Omit<Searched, 'key' | 'id'> {
  const folded = searchedText(title);
  const others = [category, id, slug].map(searchedText).join(' ');
  return { title: folded, title_words: wordsOf(folded), words: [...new Set(wordsOf(`${folded} ${others}`))] };
}

function eventRowOf(row: ParentRow) {
  const { kind: _kind, of_platform: _platform, frequency: _frequency, key, slug, category_slug, ...facts } = row;
  const { id, series_id } = facts;
  return { key, id, series_id, slug, category_slug, info: JSON.stringify(facts), ...searched(row) };
}

function seriesRowOf(row: ParentRow) {
  const { key, id, title, category, category_slug, frequency } = row;
  return { key, id, category_slug, info: JSON.stringify({ id, title, category, frequency }), ...searched(row) };
}

/** The events of copied markets, given by their keys. */
export async function eventsOfMarkets(db: Database, keys: readonly string[]): Promise<string[]> {
  const rows = rowsOf(
    await db.execute(
      sql`SELECT DISTINCT event_id FROM present_ranks WHERE key = ANY(${sql.param(keys)}::bigint[]) AND event_id <> ''`,
    ),
  );
  return rows.map((row) => String(row['event_id']));
}

interface Parents {
  platform: Platform;
  version: string;
  /** Events whose markets changed, even if `parents` has no row of them. */
  events: readonly string[];
  parents: readonly ParentRow[];
}

const withoutCopy = (table: string, given: readonly ParentId[]): SQL => sql`
  SELECT g.platform, g.id FROM unnest(${sql.param(given.map(({ platform }) => platform))}::text[], ${sql.param(given.map(({ id }) => id))}::text[]) AS g(platform, id)
  WHERE NOT EXISTS (SELECT FROM ${sql.identifier(table)} AS t WHERE t.platform = g.platform AND t.id = g.id)`;

/** Those of these events and series that have no copy. */
export async function uncopied(db: Database, ids: ParentIds): Promise<ParentIds> {
  const found = await db.execute(sql`
    SELECT 'events' AS kind, e.* FROM (${withoutCopy('present_events', ids.events)}) AS e
    UNION ALL SELECT 'series', s.* FROM (${withoutCopy('present_series', ids.series)}) AS s`);
  return new ParentIds(rowsOf(found).map((row) => UncopiedRow.parse(row)));
}

/** Those of these series that have a copy. */
export async function copiedSeries(db: Database, series: readonly ParentId[]): Promise<ParentId[]> {
  if (series.length === 0) return [];
  const missing = await uncopied(db, new ParentIds(series));
  const without = new Set(missing.series.map(({ platform, id }) => `${platform} ${id}`));
  return series.filter(({ platform, id }) => !without.has(`${platform} ${id}`));
}

/** A server takes 128 KB of ids in one parameter, unless it is configured for more. */
const READ_TOGETHER = 1000;

/** Reads these events and series, and the series of the events. */
export async function readParents(
  clickhouse: Pick<ClickHouse, 'query'>,
  { events, series }: ParentIds,
): Promise<ParentRow[]> {
  const found = new Map<string, ParentRow>();
  for (let from = 0; from < Math.max(events.length, series.length); from += READ_TOGETHER) {
    const someEvents = events.slice(from, from + READ_TOGETHER);
    const someSeries = series.slice(from, from + READ_TOGETHER);
    const rows = await clickhouse.query('present_parents', ParentRow, {
      event_platforms: someEvents.map(({ platform }) => platform),
      event_ids: someEvents.map(({ id }) => id),
      series_platforms: someSeries.map(({ platform }) => platform),
      series_ids: someSeries.map(({ id }) => id),
    });
    // A series comes with its events too.
    for (const row of rows) found.set(`${row.kind} ${row.key}`, row);
  }
  return [...found.values()];
}

/** Copies events and series of one platform after their markets. An event without a market is removed. */
export async function storeParents(db: Database, { platform, version, events, parents }: Parents): Promise<void> {
  const rows = parents.filter(({ kind }) => kind === 'event');
  if (rows.length > 0) {
    await db.execute(sql`
      WITH given AS (
        SELECT * FROM jsonb_to_recordset(${jsonbOf(rows.map(eventRowOf))})
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
  const found = parents.filter(({ kind }) => kind === 'series');
  if (found.length === 0) return;
  await db.execute(sql`
    WITH given AS (
      SELECT * FROM jsonb_to_recordset(${jsonbOf(found.map(seriesRowOf))})
        AS r(key bigint, id text, category_slug text, info text, title text, title_words text[], words text[])
    ),
    vocabulary AS (${vocabularyOf(platform, 'series', version)})
    INSERT INTO present_series AS old (key, platform, version, id, category_slug, info, title, words)
    SELECT key, ${platform}, ${version}::bigint, id, category_slug, info, title, array_to_tsvector(words) FROM given
    ON CONFLICT (key) DO UPDATE SET category_slug = excluded.category_slug, info = excluded.info, title = excluded.title, words = excluded.words
    WHERE (old.category_slug, old.info) IS DISTINCT FROM (excluded.category_slug, excluded.info)`);
}

/** Stores the words of titles in the table `given` of a statement. */
export const vocabularyOf = (platform: Platform, kind: ListKind, version: string): SQL => sql`
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
  'by_liquidity_usd',
] as const;
const columns = (prefix: string): SQL =>
  sql.raw(['hidden', 'status', 'category_slug', ...SUMS, 'by_markets'].map((name) => prefix + name).join(', '));

/** Stores the sums of events whose markets changed. The trigger present_event_ranks_changed keeps the former ones for lists that began before. */
export async function storeEventRanks(
  db: Database,
  { platform, version, events }: { platform: Platform; version: string; events: readonly string[] },
): Promise<void> {
  if (events.length === 0) return;
  const asked = sql`${sql.param(events)}::text[]`;
  await db.execute(sql`
    INSERT INTO present_event_ranks AS old (key, platform, version, event_id, ${columns('')})
    SELECT e.key, e.platform, ${version}::bigint, e.id, s.hidden, s.status, e.category_slug, ${sql.raw(SUMS.map((name) => `s.${name}`).join(', '))}, -s.markets
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
