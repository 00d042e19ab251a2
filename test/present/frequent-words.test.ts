import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { MARKET_STATUSES } from '../../src/core/model.ts';
import { listPresent } from '../../src/present/list.ts';
import { type ListAsked, type ListPlace, pageOf } from '../../src/present/places.ts';
import { ownKey } from '../../src/present/rows.ts';
import { rowsOf } from '../../src/stores/postgres/json-row.ts';
import { migratePostgres, openPostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { migratedDatabase, type OwnDatabase } from '../helpers/databases.ts';
import { silent } from '../helpers/silent-log.ts';

/** Each class of the search for `game` has more rows than are sorted, but for the ids. */
const MARKETS = 10_500;
const PAGE = 1000;

interface Row {
  key: string;
  id: string;
  title: string;
  volume: number;
  fit: number;
  status: string;
  liquidity: number;
}

/** A third begins with the word, a third has it in the title, a third in another text. */
const rows: Row[] = Array.from({ length: MARKETS }, (_, n) => {
  const third = n % 3;
  return {
    key: String(n + 1),
    id: n === 5000 ? 'game' : `m-${n}`,
    title: ['game of cards', 'the game goes on', 'another matter'][third] ?? '',
    volume: (n * 7919) % 1000,
    fit: n === 5000 ? 3 : 2 - third,
    status: n % 10 === 0 ? 'closed' : 'open',
    liquidity: n % 4,
  };
});
const inOrder = (found: readonly Row[], byClass: boolean): string[] =>
  found
    .toSorted((a, b) => (byClass ? b.fit - a.fit : 0) || b.volume - a.volume || Number(a.key) - Number(b.key))
    .map(({ key }) => key);

let database: OwnDatabase;
let postgres: Postgres;
beforeAll(async () => {
  database = await migratedDatabase();
  postgres = await openPostgres(loadConfig({ NODE_ENV: 'test', DATABASE_URL: database.url }), silent);
  await migratePostgres(postgres, silent);
  const given = sql`jsonb_to_recordset(${JSON.stringify(rows.map((row) => ({ ...row, key: ownKey(row.key) })))}::jsonb)
    AS r(key bigint, id text, title text, volume bigint, status text, liquidity bigint)`;
  for (const statement of [
    sql`INSERT INTO present_platforms (platform, version, complete_to) VALUES ('kalshi', 1, now())`,
    sql`INSERT INTO present_markets (key, platform, ref, platform_id, token_ids, info, first_seen_at, info_version, texts)
      SELECT key, 'kalshi', id, id, '{}', '{}', now(), now(), 0 FROM ${given}`,
    sql`INSERT INTO present_names SELECT 'kalshi', id, key, 0 FROM ${given}`,
    sql`INSERT INTO present_states (key, platform, version, state, synced_at, written_at) SELECT key, 'kalshi', 1, '{}', now(), now() FROM ${given}`,
    sql`INSERT INTO present_searched (key, platform, id, title, words) SELECT key, 'kalshi', id, title, to_tsvector('simple', title || ' game') FROM ${given}`,
    sql`INSERT INTO present_words SELECT DISTINCT 'kalshi', 'market', word, 1 FROM ${given}, unnest(string_to_array(title, ' ')) AS word`,
    sql`INSERT INTO present_ranks (key, platform, version, hidden, status, category_slug, event_id, by_volume_24h, by_volume_total, by_liquidity,
        liquidity_known, by_end_date, by_created, by_liquidity_usd)
      SELECT key, 'kalshi', 1, 0, status, '', '', -volume, -volume, -liquidity, true, 0, 0, -liquidity FROM ${given}`,
  ])
    await postgres.db.execute(statement);
});
afterAll(async () => {
  await postgres?.close();
  await database?.drop();
});

const asked = (given: Partial<ListAsked>): ListAsked => ({
  kind: 'market',
  platforms: ['kalshi'],
  order: 'match',
  hidden: [0],
  statuses: MARKET_STATUSES,
  search: { query: 'game', ids: { kalshi: ['game'] } },
  atMs: Date.now(),
  after: null,
  limit: PAGE,
  ...given,
});

/** The keys of all pages in their order, and the number of rows that the first page says. `between` runs after the first page. */
async function allPages(given: Partial<ListAsked>, between?: () => Promise<unknown>) {
  const keys: string[] = [];
  let after: ListPlace | null = null;
  let total = 0;
  for (;;) {
    const page = await listPresent(postgres, asked({ ...given, after }));
    if (!page) throw new Error('the former rows of the list are gone');
    if (after === null) total = page.total;
    keys.push(...page.rows.slice(0, PAGE).map(({ key }) => key));
    if (page.rows.length <= PAGE) return { keys, total };
    const last = page.rows[PAGE - 1];
    if (after === null) await between?.();
    after = { versions: page.versions, place: last?.place ?? '', key: last?.key ?? '' };
  }
}

test('a word of many markets finds all of them, the best matches first, then by volume', async () => {
  expect(await allPages({})).toEqual({ keys: inOrder(rows, true), total: MARKETS });
});

test('so it does in the order of the list that is asked for, and with filters', async () => {
  const open = rows.filter(({ status }) => status === 'open');
  const liquid = rows.filter(({ liquidity }) => liquidity >= 2);
  expect(await allPages({ order: 'volume_total' })).toEqual({ keys: inOrder(rows, false), total: MARKETS });
  const backwards = { keys: inOrder(rows, false).toReversed(), total: MARKETS };
  expect(await allPages({ order: 'volume_total', isReversed: true })).toEqual(backwards);
  expect(await allPages({ statuses: ['open'] })).toEqual({ keys: inOrder(open, true), total: open.length });
  expect(await allPages({ minLiquidity: 2n })).toEqual({ keys: inOrder(liquid, true), total: liquid.length });
});

test.each(['volume_total', 'liquidity_usd', 'price'] as const)(
  'a page by %s in either direction is read from an index of its order',
  async (order) => {
    await postgres.db.execute(sql`ANALYZE present_ranks`);
    for (const isReversed of [false, true]) {
      const page = pageOf(asked({ order, isReversed, search: undefined, limit: 50 }));
      const plan = rowsOf(await postgres.db.execute(sql`EXPLAIN ${page}`)).map((row) => String(row['QUERY PLAN']));
      expect(plan.join('\n')).not.toMatch(/Seq Scan on present_ranks|present_ranks_pkey/);
    }
  },
);

/** A third of the markets gains volume and is over. */
async function move(): Promise<void> {
  await postgres.db.execute(sql`UPDATE present_platforms SET version = version + 1`);
  await postgres.db.execute(sql`
    UPDATE present_ranks SET version = version + 1, by_volume_24h = by_volume_24h - 500, status = 'settled' WHERE key % 3 = 0`);
}

test('no page repeats or misses a market while volumes and states move', async () => {
  expect(await allPages({ statuses: ['open', 'closed'] }, move)).toEqual({ keys: inOrder(rows, true), total: MARKETS });
});

test('a market that is over for a day counts as one without volume', async () => {
  await postgres.db.execute(sql`UPDATE present_ranks SET stale_at = now() WHERE key % 3 = 0`);
  const volumes = rows.map((row) => Object.assign({}, row, BigInt(ownKey(row.key)) % 3n === 0n && { volume: 0 }));
  const shown = await allPages({ atMs: Date.now() + 60_000 });
  expect(shown).toEqual({ keys: inOrder(volumes, true), total: MARKETS });
});
