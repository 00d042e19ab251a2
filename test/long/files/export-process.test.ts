import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DATASETS } from '../../../src/files/datasets.ts';
import { readManifest } from '../../../src/files/manifest.ts';
import {
  barsOfBoth,
  duck,
  manifestOf as manifestIn,
  namesIn as filesIn,
  ROWS_OF,
  sumsOfBoth,
  tradesOfBoth,
} from '../../helpers/day-files.ts';
import { market, type MarketStore, quotes, startMarketStore, trade, usd } from '../../helpers/market-store.ts';
import { startCommand } from '../../helpers/process.ts';
import { startSignedBucket } from '../../helpers/signed-bucket.ts';
import { createRng } from '../../simulators/lib/rng.ts';

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
    ['a', 'b'].map((name) =>
      market({
        ref: `${platform}-${name}`,
        platform,
        state: name === 'a' ? {} : { quotes: quotes('0.41', '0.4', '0.43'), volumeTotal: usd('1234.56') },
      }),
    ),
  );
  await store.list(...listed);
  await store.clickhouse.insert(
    'book_changes (platform, ref, outcome, sequence, side, price, size, received_at)',
    listed.map(({ info: { platform, ref } }, i) => ({
      platform,
      ref,
      outcome: 'yes',
      sequence: String(i + 2 ** 33),
      side: 'bid',
      price: '0.4',
      size: `${i}.000001`,
      received_at: new Date(today).toISOString(),
    })),
  );
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
function startExport(to: string, env: Record<string, string> = {}, more: readonly string[] = []) {
  const target = to.startsWith('s3://') ? to : join(root, to);
  const started = startCommand('export', ['--to', target, ...more], {
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

const manifestOf = (folder: string) => manifestIn(join(root, folder));
const namesIn = (folder: string) => filesIn(join(root, folder));

test(`${KILLS} kills of an export leave whole files, and the next one makes the rest, byte for byte what one run makes`, async () => {
  await exported('whole');
  const whole = await manifestOf('whole');
  // Trades and two datasets of bars; markets, quotes and books of one day.
  expect(whole.size).toBe(3 * (3 * DAYS + 3));
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
  expect((await readdir(join(root, 'tmp'))).filter((name) => name.startsWith('forecastle-export'))).toEqual([]);
  for (const path of files.keys())
    expect(await readFile(join(root, 'killed', path))).toEqual(await readFile(join(root, 'whole', path)));
});

test('every trade and bar of the files is that of the store', async () => {
  const both = { tree: join(root, 'killed'), clickhouse: store.clickhouse };
  const trades = await tradesOfBoth(both);
  expect(trades.stored).toHaveLength(6 * 40 * DAYS);
  expect(trades.files).toEqual(trades.stored);
  for (const interval of ['1m', '1h'] as const) {
    const bars = await barsOfBoth(both, interval);
    expect(bars.stored.length).toBeGreaterThan(1000);
    expect(bars.files).toEqual(bars.stored);
  }
});

test.each(DATASETS)('every column of %s sums to what the store sums to', async (dataset) => {
  const { files, stored } = await sumsOfBoth(
    `${join(root, 'whole')}/dataset=${dataset}/**/*.parquet`,
    store.clickhouse,
    ROWS_OF[dataset],
  );
  expect(Number(stored['*'])).toBeGreaterThan(0);
  expect(files).toEqual(stored);
});

test('the lines of docs/files.md for DuckDB read the tree', async () => {
  const page = await readFile(new URL('../../../docs/files.md', import.meta.url), 'utf8');
  const queries = [...page.matchAll(/^duckdb -c "(.*)"$/gm)].map(([, query = '']) => query);
  expect(queries).toHaveLength(1);
  for (const query of queries) {
    const rows = await duck(query.replaceAll("'history/", `'${join(root, 'whole')}/`));
    expect(rows).toHaveLength(3 * DAYS);
    const first = { platform: 'kalshi', date: new Date(today - DAYS * DAY_MS).toISOString().slice(0, 10) };
    expect(rows[0]).toMatchObject({ ...first, trades: String(2 * 40) });
  }
});

test('files of a bucket are signed with their hash; a wrong secret is refused in one line that does not hold it', async () => {
  const bucket = await startSignedBucket('right-secret');
  onTestFinished(async () => void (await bucket.close()));
  const env = { AWS_ACCESS_KEY_ID: 'me', AWS_ENDPOINT_URL: bucket.url };
  const trades = ['--dataset', 'trades'];
  const refused = startExport('s3://history/a', { ...env, AWS_SECRET_ACCESS_KEY: 'guessed-secret' }, trades);
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toBe(
    `GET ${bucket.url}/history/a/manifest.json answered 403 SignatureDoesNotMatch: The signature does not match.\n`,
  );
  expect(bucket.objects.size).toBe(0);
  const accepted = startExport('s3://history/a', { ...env, AWS_SECRET_ACCESS_KEY: 'right-secret' }, trades);
  expect([await accepted.ended, accepted.output()]).toEqual([0, expect.stringMatching(/^36 files written/)]);
  const { files } = readManifest(String(bucket.objects.get('/history/a/manifest.json')));
  const whole = [...(await manifestOf('whole')).keys()];
  expect([...files.keys()]).toEqual(whole.filter((path) => path.startsWith('dataset=trades/')));
  for (const path of files.keys())
    expect(bucket.objects.get(`/history/a/${path}`)).toEqual(await readFile(join(root, 'whole', path)));
});
