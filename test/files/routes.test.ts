import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DATASETS } from '../../src/files/datasets.ts';
import { writeDayFiles } from '../../src/files/day-files.ts';
import { directoryTarget } from '../../src/files/directory-target.ts';
import type { FileEntry } from '../../src/files/manifest.ts';
import { filesRoot } from '../../src/files/stored-files.ts';
import { market, type MarketStore, startMarketStore, trade } from '../helpers/market-store.ts';

interface Listed {
  files: {
    path: string;
    dataset: string;
    platform: string;
    date: string;
    bytes: number;
    sha256: string;
    revision: number;
  }[];
  meta: { platforms: unknown[] };
}

const DAY_MS = 86_400_000;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const day = (days: number): string => new Date(today - days * DAY_MS).toISOString().slice(0, 10);
let store: MarketStore;
let key: string;

const one = market({ ref: 'KXROUTE', platform: 'kalshi' });
const traded = (atMs: number) => trade({ of: one, atMs, price: '0.4', size: '1' });

async function write(): Promise<void> {
  const { dataDir } = store.app.deps.config;
  const target = directoryTarget(filesRoot(dataDir, 'kalshi'), { keepPrevious: true });
  const deps = { clickhouse: store.clickhouse, target, temporary: `${dataDir}/files/.tmp`, clock: { now: Date.now } };
  await writeDayFiles(deps, { platforms: ['kalshi'], datasets: DATASETS, fromMs: 0, toMs: Date.now() });
}

beforeAll(async () => {
  store = await startMarketStore();
  ({ key } = await store.app.newKey('pro'));
  await store.list(one);
  await store.trade(traded(today - 2 * DAY_MS), traded(today - DAY_MS));
  await write();
});
afterAll(() => store?.close());

const ask = (path: string, headers: Record<string, string> = {}) =>
  store.app.app.inject({ url: `/v1/api/files/${path}`, headers: { 'x-api-key': key, ...headers } });

test('files are listed by dataset, platform and day; one of which nothing is stored has none', async () => {
  const paths = async (query: string) => (await store.get<Listed>(`files?${query}`)).files.map(({ path }) => path);
  const trades = [2, 1].map((days) => `dataset=trades/platform=kalshi/date=${day(days)}/part-0.parquet`);
  expect(await paths('dataset=trades')).toEqual(trades);
  expect(await paths(`dataset=trades&from=${day(1)}`)).toEqual([trades[1]]);
  expect(await paths(`dataset=trades&to=${day(2)}`)).toEqual([trades[0]]);
  expect(await paths('dataset=trades&platform=platform_a')).toEqual(trades);
  expect(await paths('dataset=trades&platform=limitless')).toEqual([]);
  expect(await paths('dataset=book_changes')).toEqual([]);
  const { meta } = await store.get<Listed>('files?dataset=trades');
  expect(meta.platforms).toEqual([{ platform: 'kalshi', complete_from: null, older_trades: 'unknown' }]);
  expect((await store.get<Listed>('files?dataset=trades')).files[0]).toEqual({
    path: trades[0],
    dataset: 'trades',
    platform: 'kalshi',
    date: day(2),
    rows: 1,
    bytes: expect.any(Number),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    schema_version: 2,
    revision: 1,
    complete: false,
  });
  await expect(store.get('files?dataset=books')).rejects.toThrow(/400.*dataset/);
  await expect(store.get(`files?from=${day(1)}&to=${day(2)}`)).rejects.toThrow(/400.*from/);
});

test('a file is sent whole, in parts, or not again, and never compressed', async () => {
  const [file] = (await store.get<Listed>('files?dataset=trades')).files;
  const { path, bytes, sha256 } = file!;
  const whole = await ask(path, { 'accept-encoding': 'br, gzip' });
  expect([whole.statusCode, whole.rawPayload.length, whole.headers.etag]).toEqual([200, bytes, `"${sha256}"`]);
  expect(whole.headers).toMatchObject({
    'content-type': 'application/vnd.apache.parquet',
    'accept-ranges': 'bytes',
    'content-length': String(bytes),
  });
  expect(whole.rawPayload.subarray(0, 4).toString()).toBe('PAR1');
  const parts = [
    ['bytes=0-3', 0, 3],
    [`bytes=${bytes - 4}-`, bytes - 4, bytes - 1],
    ['bytes=-8', bytes - 8, bytes - 1],
    [`bytes=4-${bytes * 2}`, 4, bytes - 1],
  ] as const;
  for (const [range, from, to] of parts) {
    const part = await ask(path, { range, 'if-range': `"${sha256}"` });
    expect([range, part.statusCode, part.headers['content-range']]).toEqual([
      range,
      206,
      `bytes ${from}-${to}/${bytes}`,
    ]);
    expect(part.rawPayload).toEqual(whole.rawPayload.subarray(from, to + 1));
  }
  const outside = await ask(path, { range: `bytes=${bytes}-` });
  expect([outside.statusCode, outside.headers['content-range']]).toEqual([416, `bytes */${bytes}`]);
  expect(outside.json()).toEqual({
    error: {
      status: 416,
      message: 'Range not satisfiable',
      resolution: expect.stringMatching(/./),
      error_text: `range: must begin before byte ${bytes}, received bytes=${bytes}-`,
    },
  });
  for (const range of ['bytes=5-2', 'rows=1-2', 'bytes=0-1,3-4', 'bytes=-']) {
    expect((await ask(path, { range })).statusCode, range).toBe(200);
  }
  expect((await ask(path, { range: 'bytes=0-3', 'if-range': '"other"' })).statusCode).toBe(200);
  const odd = [
    '',
    'bytes',
    'bytes=',
    'bytes=a-b',
    'bytes=-1-2',
    'bytes=1.5-2',
    'bytes=0x1-2',
    'bytes=0-3,',
    'bytes = 0-3',
  ];
  for (const range of [...odd, `bytes=${'0-1,'.repeat(500)}`, 'x'.repeat(5000), '\u00e9']) {
    const reply = await ask(path, { range });
    expect([range, reply.statusCode, reply.rawPayload.length]).toEqual([range, 200, bytes]);
  }
  const far = '9'.repeat(400);
  expect((await ask(path, { range: `bytes=0-${far}` })).headers['content-range']).toBe(`bytes 0-${bytes - 1}/${bytes}`);
  expect((await ask(path, { range: `bytes=-${far}` })).headers['content-range']).toBe(`bytes 0-${bytes - 1}/${bytes}`);
  for (const range of [`bytes=${far}-`, `bytes=${far}-${far}`, 'bytes=-0']) {
    const reply = await ask(path, { range });
    expect([range, reply.statusCode, reply.headers['content-range']]).toEqual([range, 416, `bytes */${bytes}`]);
  }
  for (const etag of ['"', 'W/', '""', ',,,,', sha256, `"${sha256}`, '"'.repeat(5000)]) {
    expect([etag, (await ask(path, { 'if-none-match': etag })).statusCode]).toEqual([etag, 200]);
  }
  for (const etag of ['*', `W/"${sha256}"`, `"x", "${sha256}"`]) {
    expect([etag, (await ask(path, { 'if-none-match': etag })).statusCode]).toEqual([etag, 304]);
  }
  const known = await ask(path, { 'if-none-match': `"${sha256}"` });
  expect([known.statusCode, known.rawPayload.length]).toEqual([304, 0]);
});

test('the revision before the newest is readable beside it; no other path is', async () => {
  const [file] = (await store.get<Listed>('files?dataset=trades')).files;
  const before = await ask(file!.path);
  await store.trade(traded(today - 2 * DAY_MS + 5));
  await write();
  const [now] = (await store.get<Listed>('files?dataset=trades')).files;
  expect([now!.revision, now!.sha256 === file!.sha256]).toEqual([2, false]);
  expect((await ask(now!.path)).headers.etag).toBe(`"${now!.sha256}"`);
  const kept = await ask(`${now!.path}?revision=1`);
  expect([kept.rawPayload, kept.headers.etag]).toEqual([before.rawPayload, before.headers.etag]);
  const rest = { range: 'bytes=4-', 'if-range': before.headers.etag! };
  expect((await ask(`${now!.path}?revision=1`, rest)).statusCode).toBe(206);
  for (const path of [
    `${now!.path}?revision=3`,
    `${now!.path}.r1`,
    now!.path.replace('part-0', 'part-1'),
    'dataset=trades/..%2F..%2F/date=x/manifest.json',
    'dataset=trades/platform=kalshi/%2e%2e/manifest.json',
  ]) {
    expect((await ask(path)).statusCode, path).toBe(404);
  }
});

test('a listed revision is sent while the next one takes its place', async () => {
  const [file] = (await store.get<Listed>('files?dataset=trades')).files;
  const before = await ask(file!.path);
  const next = join(store.app.deps.config.dataDir, 'next');
  // Of the same length, and not in the manifest yet.
  await writeFile(next, Buffer.alloc(file!.bytes));
  const target = directoryTarget(filesRoot(store.app.deps.config.dataDir, 'kalshi'), { keepPrevious: true });
  await target.put({ ...file, revision: file!.revision + 1 } as FileEntry, next);
  const after = await ask(file!.path);
  expect([after.statusCode, after.headers.etag, after.rawPayload]).toEqual([
    200,
    `"${file!.sha256}"`,
    before.rawPayload,
  ]);
});

test('HEAD names length and ETag of a file', async () => {
  const [file] = (await store.get<Listed>('files?dataset=trades')).files;
  const headers = { 'x-api-key': key };
  const head = await store.app.app.inject({ method: 'HEAD', url: `/v1/api/files/${file!.path}`, headers });
  expect([head.statusCode, head.headers['content-length'], head.headers.etag, head.rawPayload.length]).toEqual([
    200,
    String(file!.bytes),
    `"${file!.sha256}"`,
    0,
  ]);
});

test('a path may come percent-encoded; one that leads elsewhere is no file', async () => {
  const [file] = (await store.get<Listed>('files?dataset=trades')).files;
  const { path, sha256 } = file!;
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  expect(encoded).toContain('dataset%3Dtrades');
  const reply = await ask(encoded);
  expect([reply.statusCode, reply.headers.etag]).toEqual([200, `"${sha256}"`]);
  expect((await ask(path.replace('trades', 'tr%61des'))).statusCode).toBe(200);
  for (const other of [
    path.replace('part-0', '..%2Fpart-0'),
    path.replace('part-0', '%00'),
    path.replace('part', '%2e%2e'),
  ])
    expect([other, Math.floor((await ask(other)).statusCode / 100)]).toEqual([other, 4]);
  expect((await ask(path.replace('part', '%E0%A4%A'))).statusCode).toBe(400);
});
