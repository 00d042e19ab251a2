import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { forgetSettled } from '../../ingest/matches/retention.ts';
import { type MarketRecord, type Platform } from '../../src/core/model.ts';
import { systemClock } from '../../src/core/time.ts';
import { buildPresent, catchUp } from '../../src/present/catch-up.ts';
import { copyMatches } from '../../src/present/matches.ts';
import { rowsOf } from '../../src/stores/postgres/json-row.ts';
import { type MarketStore, startMarketStore } from '../helpers/market-store.ts';
import { bitcoin, judgeAll, matcherOf, NO_COPY } from '../helpers/matcher.ts';
import { silent } from '../helpers/silent-log.ts';

let store: MarketStore;
const { signal } = new AbortController();
const stores = () => ({ clickhouse: store.clickhouse, postgres: store.app.postgres, log: silent });

/** Stores markets and their verdicts; a copy is made where `present` makes one. */
async function list(present: Parameters<typeof matcherOf>[2], ...records: MarketRecord[]): Promise<void> {
  await store.list(...records);
  await judgeAll(matcherOf(store.clickhouse, systemClock, present));
}

interface Page {
  matches: { relation: string; a: { platform_id: string }; b: { platform_id: string } }[];
  pagination: { total: number };
}
const pairs = async (query = 'limit=100'): Promise<string[]> =>
  (await store.get<Page>(`matches?${query}`)).matches
    .map(({ a, relation, b }) => `${a.platform_id} ${relation} ${b.platform_id}`)
    .toSorted();
const copied = async (): Promise<number> =>
  Number(
    rowsOf(
      await store.app.postgres.db.execute(sql`SELECT count(*) AS n FROM present_matches WHERE NOT is_withdrawn`),
    )[0]?.['n'],
  );

const caught = (platform: Platform): Promise<number> => catchUp(stores(), platform, { trades: false });

beforeAll(async () => {
  store = await startMarketStore();
  await buildPresent(stores());
}, 120_000);
afterAll(() => store.close());

test('the matches of a market are one statement to PostgreSQL beside those of markets, and none to ClickHouse', async () => {
  await list(store.present, bitcoin('kalshi', 'K100', '100,000'), bitcoin('polymarket', 'P100', '100,000'));
  const asked = vi.spyOn(store.clickhouse, 'query');
  const run = vi.spyOn(store.app.postgres.db, 'execute');
  expect(await pairs('market_id=K100&platform=kalshi')).toEqual(['K100 identical P100']);
  const names = asked.mock.calls.map(([name]) => name).filter((name) => name !== 'freshness');
  const statements = run.mock.calls.map(([query]) => JSON.stringify(query));
  asked.mockRestore();
  run.mockRestore();
  expect(names).toEqual([]);
  expect(statements.filter((text) => text.includes('present_matches'))).toHaveLength(1);
  expect(statements.filter((text) => text.includes('present_'))).toHaveLength(3);
});

test('verdicts that a killed process stored and did not copy are copied by the next catch-up, once', async () => {
  await list(NO_COPY, bitcoin('limitless', 'L100', '100,000'));
  expect(await pairs()).toEqual(['K100 identical P100']);
  expect([await caught('kalshi'), await caught('polymarket'), await caught('limitless')]).toEqual([1, 1, 0]);
  expect(await pairs()).toEqual(['K100 identical L100', 'K100 identical P100', 'P100 identical L100']);
  expect(await caught('kalshi')).toBe(0);
});

test('a copy that is lost or has other pairs is built again', async () => {
  const { db } = store.app.postgres;
  await db.execute(sql`DELETE FROM present_matches WHERE b_platform = 'limitless'`);
  await db.execute(
    sql`UPDATE present_matches SET a_key = a_key + 1, match_key = match_key + 1 WHERE b_platform = 'polymarket'`,
  );
  expect(await pairs()).toEqual([]);
  await buildPresent(stores(), { again: true });
  expect(await copied()).toBe(3);
  expect(await pairs()).toEqual(['K100 identical L100', 'K100 identical P100', 'P100 identical L100']);
});

test('a copy of an older verdict never replaces a later one', async () => {
  const [pair] = await store.clickhouse.sql<{ a_key: string; b_key: string }>(
    `SELECT a_key, b_key FROM matches FINAL WHERE a_platform = 'kalshi' AND b_platform = 'polymarket'`,
  );
  const { db } = store.app.postgres;
  await db.execute(
    sql`UPDATE present_matches SET is_withdrawn = true, checked_at = checked_at + interval '1 second' WHERE a_platform = 'kalshi' AND b_platform = 'polymarket'`,
  );
  await copyMatches(stores(), pair ? [pair] : []);
  expect(await pairs()).toEqual(['K100 identical L100', 'P100 identical L100']);
  await db.execute(
    sql`UPDATE present_matches SET checked_at = checked_at - interval '1 second' WHERE a_platform = 'kalshi' AND b_platform = 'polymarket'`,
  );
  await copyMatches(stores(), pair ? [pair] : []);
  expect(await pairs()).toHaveLength(3);
});

test('while PostgreSQL fails, verdicts are stored all the same', async () => {
  await store.list(bitcoin('kalshi', 'K90', '90,000'));
  const failing = vi.spyOn(store.app.postgres.db, 'execute').mockRejectedValue(new Error('away'));
  expect(await matcherOf(store.clickhouse, systemClock, store.present).step('kalshi', signal)).toBe(1);
  failing.mockRestore();
  expect(await copied()).toBe(3);
  await caught('kalshi');
  expect(await copied()).toBeGreaterThan(3);
});

test('pairs of a market that was settled a month ago leave the copy', async () => {
  const old = bitcoin('kalshi', 'K100', '100,000');
  const now = Date.now();
  await store.list({
    ...old,
    fetchedAt: new Date(now + 1000).toISOString(),
    state: { ...old.state, status: 'settled', resolvedAt: new Date(now).toISOString() },
  });
  expect(await forgetSettled(store.clickhouse, store.present, now + 31 * 86_400_000, signal)).toBe(1);
  expect(await pairs('relation=identical')).toEqual(['P100 identical L100']);
});
