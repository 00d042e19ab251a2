import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { duck } from '../helpers/day-files.ts';
import { market, type MarketStore, startMarketStore, trade } from '../helpers/market-store.ts';

const PARQUET = 'application/vnd.apache.parquet';
const ARROW = 'application/vnd.apache.arrow.stream';
let store: MarketStore;
let key: string;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-columnar-'));
  store = await startMarketStore();
  ({ key } = await store.app.newKey('pro'));
  const one = market({ ref: 'KXCOL', platform: 'kalshi', title: 'Tab\t, quote " and \\ in a title' });
  const atMs = Date.now() - 3_600_000;
  await store.list(one);
  await store.trade(
    trade({ of: one, atMs, price: '0.57', size: '2000.5' }),
    trade({ of: one, atMs: atMs + 1, price: '0.58', size: '1500', isBlockTrade: true }),
  );
});
afterAll(async () => {
  await store?.close();
  await rm(directory, { recursive: true, force: true });
});

const ask = (path: string, headers: Record<string, string>) =>
  store.app.app.inject({ url: `/v1/api/${path}`, headers: { 'x-api-key': key, ...headers } });

async function rowsOf(parquet: Buffer): Promise<Record<string, unknown>[]> {
  const file = join(directory, 'answer.parquet');
  await writeFile(file, parquet);
  return duck(`SELECT * FROM '${file}'`);
}

/** Columns of the file that was read last whose type rounds. */
const inexactColumns = async (): Promise<unknown[]> =>
  (await duck(`DESCRIBE SELECT * FROM '${join(directory, 'answer.parquet')}'`))
    .filter(({ column_type: type }) => /DOUBLE|FLOAT/.test(String(type)))
    .map((one) => one['column_name']);

const start = Math.floor(Date.now() / 1000) - 7200;
/** Nested values are JSON text. */
const plain = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null);

const LISTS = [
  ['trades', 'markets/trades?provider=kalshi&market_id=KXCOL'],
  ['data', `markets/price-history?provider=kalshi&market_ids=KXCOL&start_ts=${start}&end_ts=${start + 7200}`],
  ['trades', 'trades/whales?market_id=KXCOL&platform=kalshi'],
  ['data', 'metrics/historical?platform=kalshi&market_id=KXCOL&interval=1h'],
] as const;

test.each(LISTS)('%s of %s are the same rows in JSON, Parquet and Arrow', async (list, path) => {
  const rows = (await store.get<Record<string, Record<string, unknown>[]>>(path))[list] ?? [];
  expect(rows.length).toBeGreaterThan(0);
  const reply = await ask(path, { accept: PARQUET, 'accept-encoding': 'gzip' });
  expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, PARQUET]);
  const read = (await rowsOf(reply.rawPayload)).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof rows[0]?.[name] === 'number' ? Number(value) : value]),
    ),
  );
  const wanted = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
  );
  expect(read).toEqual(wanted);
  expect(await inexactColumns()).toEqual([]);
  const arrow = await ask(path, { accept: ARROW });
  expect([arrow.statusCode, arrow.headers['content-type']]).toEqual([200, ARROW]);
  // The continuation marker that every Arrow stream begins with.
  expect(arrow.rawPayload.readUInt32LE(0)).toBe(0xff_ff_ff_ff);
});

test('prices and sizes are decimals, to the last of their digits', async () => {
  const one = market({ ref: '4711', platform: 'polymarket', title: 'Long price' });
  const size = '9007199254.123457';
  await store.list(one);
  await store.trade(trade({ of: one, atMs: Date.now() - 3_600_000, price: '0.0218768264', size }));
  const path = 'markets/trades?provider=polymarket&market_id=4711';
  const [row] = await rowsOf((await ask(path, { accept: PARQUET })).rawPayload);
  expect(row).toMatchObject({ price: '0.0218768264', size: `${size}0000` });
  expect(await inexactColumns()).toEqual([]);
});
