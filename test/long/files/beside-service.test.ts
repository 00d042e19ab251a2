import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeDayFiles } from '../../../src/files/day-files.ts';
import { directoryTarget } from '../../../src/files/directory-target.ts';
import { filesRoot } from '../../../src/files/stored-files.ts';
import { manifestOf } from '../../helpers/day-files.ts';
import { market, startMarketStore, trade } from '../../helpers/market-store.ts';
import { startCommand, startStore } from '../../helpers/process.ts';

const DAY_MS = 86_400_000;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;

test('an export while a service runs copies the files that the service keeps, and each once', async () => {
  const root = await mkdtemp(join(tmpdir(), 'forecastle-export-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const dataDir = join(root, 'data');
  // The engine of a service on this directory.
  const engine = startStore('clickhouse', { DATA_DIR: dataDir, CLICKHOUSE_PORT: '0' });
  onTestFinished(async () => {
    engine.kill('SIGTERM');
    await engine.ended;
  });
  await engine.ready;
  const exported = async (...rest: string[]) => {
    const run = startCommand('export', ['--to', join(root, 'history'), ...rest], {
      DATA_DIR: dataDir,
      TMPDIR: join(root, 'tmp'),
    });
    return [await run.ended, run.output()];
  };
  expect(await exported()).toEqual([
    1,
    expect.stringMatching(/^DATA_DIR: .* is in use by another process.* unless FILES_SECONDS is 0$/m),
  ]);

  const store = await startMarketStore();
  onTestFinished(() => store.close());
  const of = market({ platform: 'kalshi', ref: 'KXA-1' });
  await store.list(of);
  const keep = () =>
    writeDayFiles(
      {
        clickhouse: store.clickhouse,
        target: directoryTarget(filesRoot(dataDir, 'kalshi'), { keepPrevious: true }),
        temporary: join(root, 'service'),
        clock: { now: Date.now },
      },
      { platforms: ['kalshi'], datasets: ['trades', 'candles_1h'], fromMs: 0, toMs: Date.now() },
    );
  await store.trade(...[1, 2].map((days) => trade({ of, atMs: today - days * DAY_MS, price: '0.5', size: '10' })));
  await keep();
  expect(await exported()).toEqual([0, expect.stringMatching(/^4 files written, 4 rows, /)]);
  expect(await exported()).toEqual([0, '0 files written, 0 rows, 0 bytes.\n']);
  await store.trade(trade({ of, atMs: today - 2 * DAY_MS + 1000, price: '0.6', size: '10' }));
  await keep();
  const day = new Date(today - 2 * DAY_MS).toISOString().slice(0, 10);
  expect(await exported('--dataset', 'trades', '--to', day)).toEqual([
    0,
    expect.stringMatching(/^1 files written, 2 rows, /),
  ]);
  const files = await manifestOf(join(root, 'history'));
  expect(files.size).toBe(4);
  for (const { path } of files.values()) {
    const copy = await readFile(join(root, 'history', path));
    if (path.includes('dataset=trades')) expect(copy).toEqual(await readFile(join(filesRoot(dataDir, 'kalshi'), path)));
  }
  expect(files.get(`dataset=trades/platform=kalshi/date=${day}/part-0.parquet`)?.revision).toBe(2);
});
