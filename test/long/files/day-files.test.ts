import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PLATFORMS } from '../../../src/core/model.ts';
import { type ClickHouse, StoreError } from '../../../src/stores/clickhouse/client.ts';
import { applyRetention } from '../../../src/stores/clickhouse/retention.ts';
import { DATASETS } from '../../../src/files/datasets.ts';
import { writeDayFiles } from '../../../src/files/day-files.ts';
import { directoryTarget, revisionPath } from '../../../src/files/directory-target.ts';
import { readManifest } from '../../../src/files/manifest.ts';
import type { FileTarget } from '../../../src/files/target.ts';
import { duck, manifestOf as manifestIn } from '../../helpers/day-files.ts';
import { silent } from '../../helpers/silent-log.ts';
import { market, type MarketStore, quotes, startMarketStore, trade, usd } from '../../helpers/market-store.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const dayBefore = (days: number): string => new Date(today - days * DAY_MS).toISOString().slice(0, 10);
let store: MarketStore;
let root: string;

const kx = market({ ref: 'KXFILE-A', platform: 'kalshi', title: 'A, "quoted" and ünïcode' });
const kb = market({ ref: 'KXFILE-B', platform: 'kalshi' });
const pm = market({ ref: `0x${'ab'.repeat(32)}`, platformId: '77', platform: 'polymarket' });
const traded = (of: typeof kx, atMs: number, price: string, size: string) => trade({ of, atMs, price, size });

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'forecastle-files-'));
  store = await startMarketStore();
  const fetchedAt = new Date(today - 2 * DAY_MS + 5 * HOUR_MS).toISOString();
  const state = { quotes: quotes('0.4', '0.39', '0.41'), volumeTotal: usd('12.5') };
  await store.list({ ...kb, fetchedAt, state: { ...kb.state, ...state } }, { ...kx, fetchedAt }, { ...pm, fetchedAt });
  const book = { platform: 'kalshi', ref: 'KXFILE-B', outcome: 'yes', exchange_at: null, polled: true };
  const seen = { ...book, sequence: '8589934593', received_at: fetchedAt };
  await store.clickhouse.insert(
    'book_changes (platform, ref, outcome, exchange_at, polled, sequence, received_at, side, price, size)',
    [
      { ...seen, side: 'bid', price: '0.4', size: '10.000001' },
      { ...seen, side: 'ask', price: '0.6', size: '0' },
    ],
  );
  await store.trade(
    traded(kb, today - 2 * DAY_MS, '0.4', '10.5'),
    traded(kx, today - 2 * DAY_MS + 1.234567, '0.123456789', '1000000.000001'),
    traded(kx, today - DAY_MS - 0.001, '0.99', '2'),
    traded(kx, today - DAY_MS, '0.5', '3'),
    traded(pm, today - DAY_MS + HOUR_MS, '0.7', '4'),
    trade({ of: kx, atMs: today - DAY_MS + HOUR_MS, price: '0.2', size: '5', isBlockTrade: true }),
  );
});
afterAll(async () => {
  await store?.close();
  await rm(root, { recursive: true, force: true });
});

const all = { platforms: PLATFORMS, datasets: DATASETS, fromMs: 0, toMs: Date.now() };
const write = (folder: string, target: FileTarget = directoryTarget(join(root, folder))) =>
  writeDayFiles({ clickhouse: store.clickhouse, target, temporary: join(root, 'tmp'), clock: { now: Date.now } }, all);
const manifestOf = (folder: string) => manifestIn(join(root, folder));

test('every file is read by DuckDB, has the rows, bytes and hash of the manifest, and sums as the store', async () => {
  await write('one');
  const files = await manifestOf('one');
  expect([...files.keys()].filter((path) => path.startsWith('dataset=trades/'))).toEqual([
    `dataset=trades/platform=kalshi/date=${dayBefore(2)}/part-0.parquet`,
    `dataset=trades/platform=kalshi/date=${dayBefore(1)}/part-0.parquet`,
    `dataset=trades/platform=polymarket/date=${dayBefore(1)}/part-0.parquet`,
  ]);
  expect(new Set([...files.values()].map(({ dataset }) => dataset))).toEqual(new Set(DATASETS));
  for (const entry of files.values()) {
    const path = join(root, 'one', entry.path);
    const bytes = await readFile(path);
    expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([entry.bytes, entry.sha256]);
    const [row] = await duck(`SELECT count(*)::INT AS rows FROM '${path}'`);
    expect([entry.path, row?.['rows']]).toEqual([entry.path, entry.rows]);
  }
  const trades = join(root, 'one/dataset=trades/**/*.parquet');
  const [sums] = await duck(
    `SELECT count(*)::VARCHAR AS n, sum(price::VARCHAR::DECIMAL(38, 10))::VARCHAR AS price, sum(size::VARCHAR::DECIMAL(38, 10))::VARCHAR AS size, sum(notional::VARCHAR::DECIMAL(38, 10))::VARCHAR AS usd, sum(epoch_us(executed_at))::VARCHAR AS at FROM '${trades}'`,
  );
  const [stored] = await store.clickhouse.sql<Record<string, string>>(
    'SELECT toString(count()) AS n, toString(sum(price)) AS price, toString(sum(size)) AS size, toString(sum(notional)) AS usd, toString(sum(toUnixTimestamp64Micro(executed_at))) AS at FROM trades FINAL',
  );
  for (const [name, value] of Object.entries(stored ?? {}))
    expect([name, Number(sums?.[name])]).toEqual([name, Number(value)]);
  const types = await duck(`DESCRIBE SELECT * FROM '${trades}'`);
  const typeOf = Object.fromEntries(types.map((one) => [one['column_name'], one['column_type']]));
  expect(typeOf).toMatchObject({
    executed_at: 'TIMESTAMP WITH TIME ZONE',
    price: 'DOUBLE',
    size: 'DOUBLE',
    notional: 'DOUBLE',
    side: 'VARCHAR',
  });
  const first = join(root, `one/dataset=trades/platform=kalshi/date=${dayBefore(2)}/part-0.parquet`);
  expect(await duck(`SELECT market_id, price::VARCHAR AS price FROM '${first}'`)).toEqual([
    { market_id: 'KXFILE-A', price: '0.123456789' },
    { market_id: 'KXFILE-A', price: '0.99' },
    { market_id: 'KXFILE-B', price: '0.4' },
  ]);
  const codecs = await duck(`SELECT DISTINCT compression FROM parquet_metadata('${first}')`);
  expect(codecs).toEqual([{ compression: 'ZSTD' }]);
  const candles = join(root, 'one/dataset=candles_1h/**/*.parquet');
  const [bars] = await duck(
    `SELECT sum(volume::VARCHAR::DECIMAL(38, 10))::VARCHAR AS v, sum(trades)::VARCHAR AS n FROM '${candles}'`,
  );
  const [rolled] = await store.clickhouse.sql<{ v: string; n: string }>(
    "SELECT toString(sum(volume)) AS v, toString(sum(trades)) AS n FROM v_candles WHERE interval = '1h'",
  );
  expect([Number(bars?.['v']), bars?.['n']]).toEqual([Number(rolled?.v), rolled?.n]);
  const titles = await duck(
    `SELECT title, volume_total::VARCHAR AS v FROM '${join(root, 'one/dataset=markets/**/*.parquet')}' ORDER BY market_id`,
  );
  expect(titles).toContainEqual({ title: kx.info.title, v: null });
  expect(titles).toContainEqual({ title: 'Market KXFILE-B', v: '12.5' });
  const quoted = await duck(
    `SELECT epoch_ms(read_at)::VARCHAR AS read, status, price::VARCHAR AS price, bid::VARCHAR AS bid, ask::VARCHAR AS ask, volume_total::VARCHAR AS v
     FROM '${join(root, 'one/dataset=quotes/**/*.parquet')}' WHERE market_id = 'KXFILE-B'`,
  );
  const at = String(today - 2 * DAY_MS + 5 * HOUR_MS);
  const prices = { price: '0.4', bid: '0.39', ask: '0.41' };
  expect(quoted).toEqual([{ read: at, status: 'open', ...prices, v: '12.5' }]);
  const changes = await duck(
    `SELECT market_id, epoch_ms(received_at)::VARCHAR AS received, exchange_at, sequence::VARCHAR AS sequence, outcome, side, price::VARCHAR AS price, size::VARCHAR AS size, polled
     FROM '${join(root, 'one/dataset=book_changes/**/*.parquet')}'`,
  );
  const change = {
    market_id: 'KXFILE-B',
    received: at,
    exchange_at: null,
    sequence: '8589934593',
    outcome: 'yes',
    polled: true,
  };
  expect(changes).toEqual([
    { ...change, side: 'ask', price: '0.6', size: '0.0' },
    { ...change, side: 'bid', price: '0.4', size: '10.000001' },
  ]);
});

test('unchanged days are byte-equal over two exports, and not written again', async () => {
  await write('two');
  const [one, two] = [await manifestOf('one'), await manifestOf('two')];
  expect([...two.values()].map(({ path, sha256 }) => [path, sha256])).toEqual(
    [...one.values()].map(({ path, sha256 }) => [path, sha256]),
  );
  expect(await write('two')).toEqual({ made: 0, rows: 0, bytes: 0 });
});

test('a late trade gives its day a new revision; the one before stays readable until the next', async () => {
  const target = directoryTarget(join(root, 'kept'), { keepPrevious: true });
  await write('kept', target);
  const path = `dataset=trades/platform=kalshi/date=${dayBefore(2)}/part-0.parquet`;
  const before = await readFile(join(root, 'kept', path));
  await store.trade(traded(kb, today - 2 * DAY_MS + 9, '0.41', '1'));
  await write('kept', target);
  const files = await manifestOf('kept');
  expect(files.get(path)).toMatchObject({ revision: 2, rows: 4 });
  expect(await readFile(revisionPath(join(root, 'kept', path), 1))).toEqual(before);
  const others = [...files.values()].filter((entry) => entry.date !== dayBefore(2));
  expect(others.map(({ revision }) => revision)).toEqual(others.map(() => 1));
  await store.trade(traded(kb, today - 2 * DAY_MS + 10, '0.41', '1'));
  await write('kept', target);
  expect((await manifestOf('kept')).get(path)).toMatchObject({ revision: 3, rows: 5 });
  await expect(stat(revisionPath(join(root, 'kept', path), 1))).rejects.toThrow(/ENOENT/);
});

test('a file that the store cannot make keeps no other waiting, and is named at the end', async () => {
  const failing: ClickHouse = {
    ...store.clickhouse,
    stream: (name, ...rest) =>
      name === 'file_trades' ? Promise.reject(new StoreError('failed')) : store.clickhouse.stream(name, ...rest),
  };
  const target = directoryTarget(join(root, 'failing'));
  const deps = { clickhouse: failing, target, temporary: join(root, 'tmp'), clock: { now: Date.now } };
  await expect(writeDayFiles(deps, all)).rejects.toThrow(/files could not be written, first dataset=trades/);
  const datasets = new Set([...(await manifestOf('failing')).values()].map(({ dataset }) => dataset));
  expect(datasets).toEqual(new Set(DATASETS.filter((one) => one !== 'trades')));
});

test('a file that was removed is made again under its revision', async () => {
  await write('removed');
  const files = await manifestOf('removed');
  const path = `dataset=trades/platform=kalshi/date=${dayBefore(2)}/part-0.parquet`;
  const before = await readFile(join(root, 'removed', path));
  await rm(join(root, 'removed', path));
  expect((await write('removed')).made).toBe(1);
  expect(await readFile(join(root, 'removed', path))).toEqual(before);
  expect(await manifestOf('removed')).toEqual(files);
});

test('a market that is listed after it was traded gives its day a new revision with its id', async () => {
  const late = market({ ref: `0x${'5e'.repeat(32)}`, platformId: '5151', platform: 'polymarket' });
  await store.trade(traded(late, today - 2 * DAY_MS + 11, '0.41', '1'));
  await write('listed');
  const path = `dataset=trades/platform=polymarket/date=${dayBefore(2)}/part-0.parquet`;
  const ids = async () =>
    (await duck(`SELECT market_id FROM '${join(root, 'listed', path)}'`)).map((row) => row['market_id']);
  expect(await ids()).toContain(late.info.ref);
  const { revision } = (await manifestOf('listed')).get(path)!;
  await store.list(late);
  await write('listed');
  expect(await ids()).toContain('5151');
  expect((await manifestOf('listed')).get(path)).toMatchObject({ revision: revision + 1 });
});

test('a correction of bars alone gives their file a new revision, and no other', async () => {
  await write('bars');
  const before = await manifestOf('bars');
  const path = `dataset=candles_1m/platform=kalshi/date=${dayBefore(1)}/part-0.parquet`;
  const highs = async () => {
    const rows = await duck(`SELECT high::VARCHAR AS high FROM '${join(root, 'bars', path)}' WHERE high IS NOT NULL`);
    return rows.map(({ high }) => high);
  };
  expect(await highs()).toEqual(['0.5']);
  await store.clickhouse.command(
    `INSERT INTO candles_1m SELECT * REPLACE (toDecimal64('0.51', 10) AS h, 0 AS v, 0 AS q, 0 AS n) FROM candles_1m
     WHERE t = toDateTime(${(today - DAY_MS) / 1000}, 'UTC')`,
  );
  expect(await write('bars')).toMatchObject({ made: 1 });
  expect(await highs()).toEqual(['0.51']);
  const after = await manifestOf('bars');
  const { revision } = before.get(path)!;
  expect(after.get(path)).toMatchObject({ revision: revision + 1 });
  // Where bars are not looked at, files stay as they are.
  const target = directoryTarget(join(root, 'bars'));
  const deps = { clickhouse: store.clickhouse, target, temporary: join(root, 'tmp'), clock: { now: Date.now } };
  expect(await writeDayFiles(deps, { ...all, readingsFromMs: Date.now() })).toMatchObject({ made: 0 });
  expect(await manifestOf('bars')).toEqual(after);
});

const completed = async (): Promise<string[]> =>
  [...(await manifestOf('complete')).values()]
    .filter(({ dataset, complete }) => dataset === 'trades' && complete)
    .map(({ platform, date }) => `${platform} ${date}`);

test('a day is complete once the feed is stored beyond it and has no gap in it', async () => {
  await store.cover('kalshi', today - 2 * DAY_MS, today - 1);
  await write('complete');
  expect(await completed()).toEqual([`kalshi ${dayBefore(2)}`]);
  await store.cover('kalshi', today - 2 * DAY_MS, today + 1);
  await write('complete');
  expect(await completed()).toEqual([`kalshi ${dayBefore(2)}`, `kalshi ${dayBefore(1)}`]);
});

test('the manifest says from when on the trades of each platform are complete, and what is known of older ones', async () => {
  const target = directoryTarget(join(root, 'complete'));
  const reached = async () => [...readManifest(await target.readManifest()).platforms.values()];
  const limitless = { platform: 'limitless', complete_from: null, older_trades: 'not_in_feed' };
  const polymarket = { platform: 'polymarket', complete_from: null, older_trades: 'not_in_feed' };
  const from = new Date(today - 2 * DAY_MS).toISOString();
  const kalshi = { platform: 'kalshi', complete_from: from, older_trades: 'unknown' };
  expect(await reached()).toEqual([kalshi, limitless, polymarket]);
  // It changes without any file, and an export of one platform leaves the others as they were.
  await store.cover('kalshi', today - 3 * DAY_MS, today + 1);
  await store.cover('polymarket', today - DAY_MS, today + 1);
  const deps = { clickhouse: store.clickhouse, target, temporary: join(root, 'tmp'), clock: { now: Date.now } };
  await writeDayFiles(deps, { ...all, platforms: ['kalshi'] });
  const earlier = new Date(today - 3 * DAY_MS).toISOString();
  expect(await reached()).toEqual([{ ...kalshi, complete_from: earlier }, limitless, polymarket]);
  await write('complete');
  expect(await reached()).toContainEqual({ ...polymarket, complete_from: new Date(today - DAY_MS).toISOString() });
});

test('a failure in the middle leaves whole files only, and the next export makes the rest', async () => {
  const inner = directoryTarget(join(root, 'broken'));
  let left = 2;
  const failing: FileTarget = {
    ...inner,
    put: (entry, local) => ((left -= 1) < 0 ? Promise.reject(new Error('disk is full')) : inner.put(entry, local)),
  };
  await expect(write('broken', failing)).rejects.toThrow('disk is full');
  const files = await manifestOf('broken');
  expect(files.size).toBe(2);
  const found = (await readdir(join(root, 'broken'), { recursive: true })).filter((name) => name.includes('part'));
  expect(found.toSorted()).toEqual([...files.keys()].toSorted());
  await write('broken');
  expect([...(await manifestOf('broken')).keys()]).toEqual([...(await manifestOf('complete')).keys()]);
});

test('yesterday has a file as long as all of its rows are kept', async () => {
  const settings = {
    RETENTION_TRADES_DAYS: 0,
    RETENTION_SNAPSHOTS_DAYS: 0,
    RETENTION_STREAM_DAYS: 30,
    COLD_AFTER_DAYS: 0,
  };
  await applyRetention(store.clickhouse, { ...settings, RETENTION_BOOKS_DAYS: 2 }, silent);
  const seen = new Date(today - HOUR_MS).toISOString();
  await store.clickhouse.insert('book_changes (platform, ref, outcome, sequence, received_at, side, price, size)', [
    {
      platform: 'kalshi',
      ref: 'KXFILE-B',
      outcome: 'yes',
      sequence: '1',
      received_at: seen,
      side: 'bid',
      price: '0.4',
      size: '1',
    },
  ]);
  const target = directoryTarget(join(root, 'yesterday'));
  const deps = {
    clickhouse: store.clickhouse,
    target,
    temporary: join(root, 'tmp'),
    clock: { now: () => today + 12 * HOUR_MS },
  };
  await writeDayFiles(deps, { ...all, datasets: ['book_changes'] });
  expect([...(await manifestOf('yesterday')).values()].map(({ date }) => date)).toEqual([dayBefore(1)]);
});

test('a day of which rows were dropped for their age keeps its file, and gets none where it has none', async () => {
  await write('aged');
  const before = await manifestOf('aged');
  const settings = {
    RETENTION_TRADES_DAYS: 1,
    RETENTION_SNAPSHOTS_DAYS: 1,
    RETENTION_STREAM_DAYS: 0,
    COLD_AFTER_DAYS: 0,
  };
  await applyRetention(store.clickhouse, { ...settings, RETENTION_BOOKS_DAYS: 1 }, silent);
  await store.clickhouse.command('OPTIMIZE TABLE trades FINAL');
  await store.trade(traded(kb, today - 2 * DAY_MS + 20, '0.42', '1'));
  await write('aged');
  const after = await manifestOf('aged');
  const kept = [...before].filter(([, { dataset }]) => !dataset.startsWith('candles'));
  for (const [path, entry] of kept) expect(after.get(path)).toEqual(entry);
  const candles = `dataset=candles_1h/platform=kalshi/date=${dayBefore(2)}/part-0.parquet`;
  expect(after.get(candles)).toMatchObject({ revision: 2 });
  await write('fresh');
  const days = [...(await manifestOf('fresh')).values()].filter(({ dataset }) => !dataset.startsWith('candles'));
  expect(days.filter(({ date }) => date === dayBefore(2))).toEqual([]);
});
