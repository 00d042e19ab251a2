import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type FileEntry, readManifest } from '../../src/files/manifest.ts';
import { market, type MarketStore, startMarketStore, trade } from '../helpers/market-store.ts';
import { startCommand } from '../helpers/process.ts';
import { startSignedBucket } from '../helpers/signed-bucket.ts';
import { createRng } from '../simulators/lib/rng.ts';

const DAY_MS = 86_400_000;
const DAYS = 12;
const KILLS = 3;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
let store: MarketStore;
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'forecastle-export-'));
  store = await startMarketStore();
  const rng = createRng(5);
  const listed = (['kalshi', 'polymarket', 'limitless'] as const).flatMap((platform) =>
    ['a', 'b'].map((name) => market({ ref: `${platform}-${name}`, platform })),
  );
  await store.list(...listed);
  const made = listed.flatMap((of) =>
    Array.from({ length: 40 * DAYS }, (_, i) => {
      const atMs = today - (1 + (i % DAYS)) * DAY_MS + rng.int(0, DAY_MS - 1);
      return trade({ of, atMs, price: `0.${rng.int(1, 99)}`, size: `${rng.int(1, 999)}.${rng.int(1, 9)}` });
    }),
  );
  await store.trade(...made);
});
afterAll(async () => {
  await store?.close();
  await rm(root, { recursive: true, force: true });
});

/** `npm run export` to a folder of `root`, or to S3; its temporary files go to `root/tmp`. */
function startExport(to: string, env: Record<string, string> = {}) {
  const target = to.startsWith('s3://') ? to : join(root, to);
  const started = startCommand('export', ['--to', target], {
    CLICKHOUSE_URL: store.url,
    TMPDIR: join(root, 'tmp'),
    ...env,
  });
  onTestFinished(async () => {
    started.kill('SIGKILL');
    await started.ended;
  });
  return started;
}

async function exported(to: string): Promise<void> {
  const run = startExport(to);
  expect([await run.ended, run.output()]).toEqual([0, expect.stringMatching(/^\d+ files written/)]);
}

const manifestOf = async (folder: string): Promise<Map<string, FileEntry>> =>
  readManifest(await readFile(join(root, folder, 'manifest.json'), 'utf8').catch(() => null));
const namesIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(join(root, folder).length + 1))
    .toSorted();

const withoutZeros = (text: string): string => (/^\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text);

/** The same columns of the files and of the store, all values as text, in one order. */
async function rowsOfBoth(dataset: string, columns: readonly (readonly [duck: string, click: string])[], from: string) {
  const connection = await (await DuckDBInstance.create()).connect();
  const list = columns.map(([duck], i) => `(${duck})::VARCHAR AS c${i}`).join();
  const files = join(root, `killed/dataset=${dataset}/**/*.parquet`);
  const read = await connection.runAndReadAll(`SELECT ${list} FROM read_parquet('${files}', hive_partitioning = true)`);
  connection.closeSync();
  const stored = await store.clickhouse.sql<Record<string, string>>(
    `SELECT ${columns.map(([, click], i) => `toString(${click}) AS c${i}`).join()} FROM ${from}`,
  );
  const lines = (rows: Record<string, unknown>[]) =>
    rows.map((row) => columns.map((_, i) => withoutZeros(String(row[`c${i}`]))).join(' ')).toSorted();
  return [lines(read.getRowObjectsJson()), lines(stored)] as const;
}

test(`${KILLS} kills of an export leave whole files, and the next one makes the rest, byte for byte what one run makes`, async () => {
  await exported('whole');
  const whole = await manifestOf('whole');
  // Trades, two datasets of bars and one of markets.
  expect(whole.size).toBe(3 * (3 * DAYS + 1));
  const rng = createRng(Date.now() % 1000);
  for (let kill = 0; kill < KILLS; kill++) {
    const before = (await manifestOf('killed')).size;
    const run = startExport('killed');
    const state = { over: false };
    void run.ended.then(() => (state.over = true));
    while (!state.over && (await manifestOf('killed')).size <= before) await sleep(2);
    await sleep(rng.next() * 60);
    run.kill('SIGKILL');
    await run.ended;
    const files = await manifestOf('killed');
    for (const { path, sha256 } of files.values()) expect([path, sha256]).toEqual([path, whole.get(path)?.sha256]);
  }
  await exported('killed');
  const files = await manifestOf('killed');
  expect([...files.values()]).toEqual([...whole.values()]);
  expect(await namesIn('killed')).toEqual([...files.keys(), 'manifest.json'].toSorted());
  expect(await readdir(join(root, 'tmp/forecastle-export'))).toEqual([]);
  for (const path of files.keys())
    expect(await readFile(join(root, 'killed', path))).toEqual(await readFile(join(root, 'whole', path)));
});

test('every trade and bar of the files is that of the store', async () => {
  const id = ["platform || ':' || market_id", 'm.id'] as const;
  const [files, stored] = await rowsOfBoth(
    'trades',
    [
      id,
      ['trade_id', 't.trade_id'],
      ['epoch_us(executed_at)', 'toUnixTimestamp64Micro(t.executed_at)'],
      ['side', 't.side'],
      ['outcome', 't.outcome'],
      ['price', 't.price'],
      ['size', 't.size'],
      ['notional', 't.notional'],
    ],
    'v_trades AS t INNER JOIN v_markets AS m ON m.market_key = t.market_key',
  );
  expect(stored).toHaveLength(6 * 40 * DAYS);
  expect(files).toEqual(stored);
  const bars = ['open', 'high', 'low', 'close', 'volume', 'notional', 'trades'].map(
    (name) => [name, `c.${name}`] as const,
  );
  const [bar, kept] = await rowsOfBoth(
    'candles_1h',
    [id, ['epoch(start_at)::BIGINT', 'toUnixTimestamp(c.t)'], ...bars],
    "v_candles AS c INNER JOIN v_markets AS m ON m.market_key = c.market_key WHERE c.interval = '1h'",
  );
  expect(kept.length).toBeGreaterThan(1000);
  expect(bar).toEqual(kept);
});

test('the queries of docs/files.md read the tree', async () => {
  const page = await readFile(new URL('../../docs/files.md', import.meta.url), 'utf8');
  const queries = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, query = '']) => query);
  expect(queries).toHaveLength(1);
  const connection = await (await DuckDBInstance.create()).connect();
  onTestFinished(() => connection.closeSync());
  for (const query of queries) {
    const read = await connection.runAndReadAll(query.replaceAll("'history/", `'${join(root, 'whole')}/`));
    expect(read.currentRowCount).toBe(6);
  }
});

test('files of a bucket are signed with their hash; a wrong secret is refused in one line that does not hold it', async () => {
  const bucket = await startSignedBucket('right-secret');
  onTestFinished(async () => void (await bucket.close()));
  const env = { AWS_ACCESS_KEY_ID: 'me', AWS_ENDPOINT_URL: bucket.url };
  const refused = startExport('s3://history/a', { ...env, AWS_SECRET_ACCESS_KEY: 'guessed-secret' });
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toBe(
    `GET ${bucket.url}/history/a/manifest.json answered 403 SignatureDoesNotMatch: The signature does not match.\n`,
  );
  expect(bucket.objects.size).toBe(0);
  const accepted = startExport('s3://history/a', { ...env, AWS_SECRET_ACCESS_KEY: 'right-secret' });
  expect([await accepted.ended, accepted.output()]).toEqual([0, expect.stringMatching(/^111 files written/)]);
  const files = readManifest(String(bucket.objects.get('/history/a/manifest.json')));
  const whole = await manifestOf('whole');
  expect([...files.keys()]).toEqual([...whole.keys()]);
  for (const path of files.keys())
    expect(bucket.objects.get(`/history/a/${path}`)).toEqual(await readFile(join(root, 'whole', path)));
});
