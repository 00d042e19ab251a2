import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { writeDayFiles } from '../../../src/files/day-files.ts';
import { DATASETS } from '../../../src/files/datasets.ts';
import { readManifest } from '../../../src/files/manifest.ts';
import { s3Target } from '../../../src/files/s3-target.ts';
import { market, type MarketStore, startMarketStore, trade } from '../../helpers/market-store.ts';

let store: MarketStore;
let directory: string;
let server: S3rver;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-s3-'));
  server = new S3rver({ port: 0, silent: true, directory, configureBuckets: [{ name: 'history', configs: [] }] });
  const { port } = await server.run();
  env = {
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  };
  store = await startMarketStore();
  const one = market({ ref: 'KXS3', platform: 'kalshi' });
  await store.list(one);
  await store.trade(trade({ of: one, atMs: Date.now() - 86_400_000, price: '0.4', size: '1' }));
});
afterAll(async () => {
  await store?.close();
  await server?.close();
  await rm(directory, { recursive: true, force: true });
});

const all = { platforms: ['kalshi'] as const, datasets: DATASETS, fromMs: 0, toMs: Date.now() };
const write = (url: string, given = env) =>
  writeDayFiles(
    { clickhouse: store.clickhouse, target: s3Target(url, given), temporary: directory, clock: { now: Date.now } },
    all,
  );

test('a bucket gets the same tree and manifest as a directory, and unchanged days once', async () => {
  const first = await write('s3://history/a/b');
  expect(first.made).toBe(5);
  const { files } = readManifest(await s3Target('s3://history/a/b', env).readManifest());
  expect([...files.keys()]).toHaveLength(5);
  for (const { path, bytes } of files.values()) {
    const object = join(directory, 'history/a/b', `${path}._S3rver_object`);
    const { size } = await stat(object);
    expect([path, size]).toEqual([path, bytes]);
  }
  expect(await write('s3://history/a/b')).toMatchObject({ made: 0 });
});

test('a wrong key, a missing bucket or variable is named, not its secret', async () => {
  await expect(
    write('s3://history/x', { ...env, AWS_ACCESS_KEY_ID: 'NOBODY', AWS_SECRET_ACCESS_KEY: 'guessed-secret' }),
  ).rejects.toThrow(/answered 403 (?![^]*guessed-secret)/);
  await expect(write('s3://nobucket/x')).rejects.toThrow(/answered 404/);
  expect(() => s3Target('s3://', env)).toThrow(/--to: must be s3:/);
  expect(() => s3Target('s3://history', {})).toThrow(/AWS_ACCESS_KEY_ID: must be set/);
});

test('a call that S3 puts off, or whose connection is lost, is sent again whole', async () => {
  const bodies: string[] = [];
  const slow = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      if (bodies.length === 1) request.socket.destroy();
      else response.writeHead(bodies.length === 2 ? 503 : 200).end('<Code>SlowDown</Code>');
    });
  });
  await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
  onTestFinished(() => void slow.close());
  const { port } = slow.address() as AddressInfo;
  const target = s3Target('s3://history/a', { ...env, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` });
  await target.writeManifest('{}');
  expect(bodies).toEqual(['{}', '{}', '{}']);
  expect(() => s3Target('s3://history/../other', env)).toThrow(/--to: must be s3:/);
});

test('a manifest that S3 refuses because the key may not list the bucket is named with the permissions to give', async () => {
  const methods: (string | undefined)[] = [];
  const closed = createServer((request, response) => {
    methods.push(request.method);
    response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
  });
  await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
  onTestFinished(() => void closed.close());
  const { port } = closed.address() as AddressInfo;
  const given = { ...env, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` };
  await expect(write('s3://history/new', given)).rejects.toThrow(
    /^GET \S+\/manifest\.json answered 403 AccessDenied: Access Denied\. Allow the key s3:GetObject .* s3:ListBucket [^\n]*$/,
  );
  // Nothing is written over what cannot be read.
  expect(methods).toEqual(['GET']);
  await expect(s3Target('s3://history/new', given).writeManifest('{}')).rejects.toThrow(/AccessDenied: Access Denied$/);
});
