import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Platform } from '../../src/core/model.ts';
import { type Clock, systemClock } from '../../src/core/time.ts';
import { CopiedRow, marketOf, namesOf, rankOf, searchedOf, stateOf } from '../../src/present/rows.ts';
import { rowsOf } from '../../src/stores/postgres/json-row.ts';
import { loadConfig } from '../../src/core/config.ts';
import { Projector } from '../../src/present/projector.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { migratePostgres, openPostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { migratedDatabase } from './databases.ts';
import { silent } from './silent-log.ts';

/** A PostgreSQL database of its own on the server of `serverUrl`, migrated, and what copies markets of `clickhouse` to it. */
export async function openPresent(
  clickhouse: ClickHouse,
  serverUrl?: string,
  clock: Clock = systemClock,
): Promise<TestPresent> {
  const database = await migratedDatabase(serverUrl);
  const postgres = await openPostgres(loadConfig({ NODE_ENV: 'test', DATABASE_URL: database.url }), silent);
  await migratePostgres(postgres, silent);
  const present = new Projector({ clickhouse, postgres, log: silent, clock });
  return {
    postgres,
    present,
    url: database.url,
    async close() {
      await present.close();
      await postgres.close();
      await database.drop();
    },
  };
}

export interface TestPresent {
  postgres: Postgres;
  present: Projector;
  /** What DATABASE_URL of another process must be. */
  url: string;
  close(): Promise<void>;
}

const RefRow = z.object({ ref: z.string() });

/** Every market that PostgreSQL has otherwise than ClickHouse, each with both sides; [] if they are alike. */
export async function differences(
  { clickhouse, postgres }: { clickhouse: ClickHouse; postgres: Postgres },
  platform: Platform,
): Promise<object[]> {
  const refs = await clickhouse.sql<z.infer<typeof RefRow>>(
    'SELECT ref FROM markets FINAL WHERE platform = {platform:String}',
    { platform },
  );
  const truth = await clickhouse.query('present_markets', CopiedRow, {
    platforms: refs.map(() => platform),
    refs: refs.map(({ ref }) => ref),
  });
  const copied = rowsOf(
    await postgres.db.execute(sql`
      SELECT key, m.ref, m.platform_id, m.token_ids, m.info, m.first_seen_at, m.info_version, m.texts, s.state, s.trades, s.unique_traders, s.traded_since, s.synced_at, s.written_at,
        r.hidden, r.status, r.category_slug, r.event_id, r.by_volume_24h, r.by_volume_total, r.by_liquidity, r.liquidity_known, r.by_end_date, r.by_created,
        r.stale_at, r.by_volume_24h_usd, r.by_volume_7d_usd, r.by_volume_total_usd, r.stale_week_at, r.by_price, r.by_spread, r.by_change_24h, r.by_resolved, r.by_liquidity_usd, t.title, tsvector_to_array(t.words) AS words,
        (t.platform, t.id, t.hidden, t.status, t.category_slug, t.by_end_date)
          IS NOT DISTINCT FROM (m.platform, lower(m.platform_id), r.hidden, r.status, r.category_slug, r.by_end_date) AS searched_alike,
        (SELECT jsonb_agg(jsonb_build_object('name', n.name, 'rank', n.rank) ORDER BY n.name) FROM present_names AS n WHERE n.key = m.key) AS names
      FROM present_markets AS m FULL JOIN present_states AS s USING (key) FULL JOIN present_ranks AS r USING (key) FULL JOIN present_searched AS t USING (key)
      WHERE ${platform} IN (m.platform, s.platform, r.platform)`),
  );
  const byKey = new Map(copied.map((row) => [String(row['key']), plain(row)]));
  const expected = new Map(
    truth.map((row) => {
      const names = namesOf(row).map(({ name, rank }) => ({ name, rank }));
      const sorted = names.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const { title, words } = searchedOf(row);
      return [
        row.key,
        plain({
          ...marketOf(row),
          ...stateOf(row),
          ...rankNow(row),
          title,
          words,
          searched_alike: true,
          names: sorted,
        }),
      ];
    }),
  );
  return [...new Set([...byKey.keys(), ...expected.keys()])].flatMap((key) => {
    const [stored, copy] = [expected.get(key), byKey.get(key)];
    return isDeepStrictEqual(stored, copy) ? [] : [{ stored, copy }];
  });
}

const isStale = (at: string | null): boolean => at !== null && Date.parse(at) <= Date.now();

/** A market that is over for a day has sold nothing since. */
function rankNow(row: CopiedRow): ReturnType<typeof rankOf> {
  const rank = rankOf(row);
  return {
    ...rank,
    ...(isStale(rank.stale_at) && { by_volume_24h: '0', by_volume_24h_usd: '0', stale_at: null }),
    ...(isStale(rank.stale_week_at) && { by_volume_7d_usd: '0', stale_week_at: null }),
  };
}

/** Times and integers as text, whatever the driver made of them. */
const plain = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      name.endsWith('_at') || name.endsWith('_since') || name.endsWith('_version')
        ? value && new Date(value as string).toISOString()
        : name === 'unique_traders' || name === 'trades' || name === 'texts' || name === 'key' || name.startsWith('by_')
          ? value == null
            ? value
            : String(value)
          : name === 'words'
            ? (value as string[] | null)?.toSorted()
            : value,
    ]),
  );

/** Number of listed markets by what lists filter by: as kept, and as counted. They are equal. */
export async function marketCounts({
  postgres,
}: {
  postgres: Postgres;
}): Promise<{ kept: object[]; counted: object[] }> {
  const kept = sql`SELECT platform, hidden, status, category_slug, markets FROM present_counts WHERE markets <> 0 ORDER BY 1, 2, 3, 4`;
  const counted = sql`
    SELECT platform, hidden, status, category_slug, count(*) AS markets FROM present_ranks GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;
  return { kept: rowsOf(await postgres.db.execute(kept)), counted: rowsOf(await postgres.db.execute(counted)) };
}
