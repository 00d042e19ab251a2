import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouse, connect } from '../src/clickhouse.ts';
import { startEmbeddedClickHouse } from '../src/embedded/clickhouse.ts';
import { migrateClickHouse } from '../src/migrations.ts';
import { verifyRollups } from '../src/verify.ts';
import { fillStore } from './bench/fill.ts';
import { silent } from './helpers/silent-log.ts';

let directory: string;
let clickhouse: ClickHouse;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-verify-'));
  const engine = await startEmbeddedClickHouse({ dataDir: directory, memoryMb: 800, log: silent });
  clickhouse = connect(engine.url, () => engine.close());
  await migrateClickHouse(clickhouse, silent);
  await fillStore(clickhouse, { trades: 5000, markets: 60 });
});

afterAll(async () => {
  await clickhouse.close();
  await rm(directory, { recursive: true, force: true });
});

test('roll-ups that agree with their trades are said to, all of them', async () => {
  const verdicts = await verifyRollups(clickhouse, 1);
  expect(verdicts).toHaveLength(6);
  for (const { table, compared, different } of verdicts)
    expect([table, compared > 0, different]).toEqual([table, true, 0]);
});

test('a roll-up that counts a trade twice, or one that lost a bar, is found', async () => {
  await clickhouse.command('INSERT INTO volume_1h SELECT * FROM volume_1h LIMIT 1');
  await clickhouse.command(
    'ALTER TABLE candles_1m DELETE WHERE market_key = (SELECT any(market_key) FROM candles_1m) SETTINGS mutations_sync = 1',
  );
  const different = (await verifyRollups(clickhouse, 1)).filter((verdict) => verdict.different > 0);
  expect(different.map((verdict) => verdict.table).toSorted()).toEqual(['candles_1m', 'volume_1h']);
});
