import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedClickHouse, startEmbeddedClickHouse } from '../../src/embedded/clickhouse/supervisor.ts';
import { conditionSpellings } from '../../src/platforms/polymarket/protocol.ts';
import { type ClickHouse, connect } from '../../src/stores/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/stores/clickhouse/migrations.ts';
import { silent } from '../helpers/silent-log.ts';

const SCHEMA = new URL('../../sql/schema/', import.meta.url);
const directory = mkdtempSync(join(tmpdir(), 'forecastle-v2-refs-'));
let engine: EmbeddedClickHouse;
let store: ClickHouse;

beforeAll(async () => {
  engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 600, log: silent });
  store = connect(engine.url);
});
afterAll(async () => {
  await store?.close();
  await engine?.close();
  rmSync(directory, { recursive: true });
});

/** A condition of each documented module: hash, arity, zeros, chain, index, no outcome. */
const CONDITIONS = ['01', '02', '03'].map(
  (module) => `0x${module}${'a7'.repeat(16)}0002${'0'.repeat(16)}00890001${'00'}`,
);
const OLD = CONDITIONS.map((condition) => conditionSpellings(condition)[0]!);
/** What looks alike and stays: the same markets as they are stored now, a CTF condition, a market without one, other platforms. */
const KEPT = [
  ...CONDITIONS.map((ref) => ['polymarket', ref]),
  ['polymarket', `0x${'b'.repeat(64)}`],
  ['polymarket', 'gamma:700123'],
  ['polymarket', `0x${'b'.repeat(62)}`],
  ['limitless', OLD[0]!],
  ['kalshi', 'KXTIDE-27'],
] as const;

const AT = '2026-11-01 00:00:00.000';
/** Tables that hold something of a market, and what else their rows need. */
const TABLES: Record<string, Record<string, unknown>> = {
  markets: { first_seen_at: AT, version: AT },
  market_state: { status: 'open', first_seen_at: AT, synced_at: AT },
  market_raw: { raw: '{}', version: AT },
  market_snapshots: { at: AT, status: 'open' },
  platform_candles: { interval_min: 60, t: '2026-11-01 00:00:00', source: 'midpoint' },
  market_refs: {},
  trade_coverage: { complete_from: AT, complete_to: AT, marker: '' },
};
const keysIn = async (table: string): Promise<string[]> =>
  (await store.sql<{ key: string }>(`SELECT toString(market_key) AS key FROM ${table} ORDER BY key`)).map(
    ({ key }) => key,
  );

/** A market with the key that the schema makes for it. */
async function keyed(platform: string, ref: string) {
  const [row] = await store.sql<{ key: string }>(`SELECT toString(sipHash64('${platform}', '${ref}')) AS key`);
  return { platform, ref, market_key: row!.key };
}

test('markets stored under a condition id of 62 digits leave no trace, and nothing else is touched', async () => {
  const earlier = mkdtempSync(join(directory, 'sql-'));
  for (const name of readdirSync(SCHEMA).filter((one) => one < '030')) {
    copyFileSync(new URL(name, SCHEMA), join(earlier, name));
  }
  await migrateClickHouse(store, silent, pathToFileURL(`${earlier}/`));
  const old = OLD.map((ref) => ['polymarket', ref] as const);
  const rows = await Promise.all([...KEPT, ...old].map(([platform, ref]) => keyed(platform, ref)));
  const all = rows.map((row) => row.market_key).toSorted();
  for (const [table, rest] of Object.entries(TABLES)) {
    await store.insert(
      table,
      rows.map((row) => ({ ...row, ...rest })),
    );
  }
  const tables = Object.keys(TABLES);
  for (const table of tables) expect([table, await keysIn(table)]).toEqual([table, all]);
  await migrateClickHouse(store, silent);
  const kept = all.filter((key) => rows.findIndex((row) => row.market_key === key) < KEPT.length);
  const made = ['market_info_texts', 'market_state_texts'];
  for (const table of [...tables, ...made]) expect([table, await keysIn(table)]).toEqual([table, kept]);
});
