import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { flatColumns } from '../../../src/http/flat-rows.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { duck } from '../../helpers/day-files.ts';
import { parsePrice } from '../../../src/core/decimal.ts';
import { market, type MarketStore, startMarketStore, trade } from '../../helpers/market-store.ts';

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
  const quotes = [
    { price: parsePrice('0.57'), bid: parsePrice('0.56'), ask: null },
    { price: parsePrice('0.43'), bid: null, ask: parsePrice('0.44') },
  ];
  await store.list({ ...one, state: { ...one.state, quotes } });
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
/** Nested fields are columns, metadata is JSON text. */
const flat = (row: Record<string, unknown>, prefix = ''): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      typeof value !== 'object' || value === null
        ? [[prefix + name, value]]
        : name === 'metadata'
          ? [[prefix + name, JSON.stringify(value)]]
          : Object.entries(flat(value as Record<string, unknown>, `${prefix}${name}_`)),
    ),
  );

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
  const wanted = rows.map((row) => flat(row));
  const read = (await rowsOf(reply.rawPayload)).map((row, at) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof wanted[at]?.[name] === 'number' ? Number(value) : value,
      ]),
    ),
  );
  expect(read).toEqual(wanted);
  expect(await inexactColumns()).toEqual([]);
  const arrow = await ask(path, { accept: ARROW });
  expect([arrow.statusCode, arrow.headers['content-type']]).toEqual([200, ARROW]);
  // The continuation marker that every Arrow stream begins with.
  expect(arrow.rawPayload.readUInt32LE(0)).toBe(0xff_ff_ff_ff);
});

interface Row {
  outcomes: { id: string; name: string }[];
  current_prices: Record<string, { price: number | null; bid: number | null; ask: number | null }>;
  price_24h_changes: Record<string, number>;
  tags: string[];
}

test('a market is one row of plain values in CSV and Parquet: prices of its first outcome are yes_price, yes_bid, yes_ask', async () => {
  const path = 'markets?provider=kalshi';
  const { markets } = await store.get<{ markets: Row[] }>(path);
  const [one] = markets;
  const first = one?.current_prices[one.outcomes[0]?.id ?? ''];
  const second = one?.current_prices[one.outcomes[1]?.id ?? ''];
  const [row] = await rowsOf((await ask(path, { accept: PARQUET })).rawPayload);
  const figures = ['yes_price', 'yes_bid', 'yes_ask', 'no_price', 'no_bid', 'no_ask'];
  const stated = [first, second].flatMap((side) => [side?.price, side?.bid, side?.ask]);
  expect(stated.some((figure) => typeof figure === 'number')).toBe(true);
  expect(figures.map((name) => (row?.[name] === null ? null : Number(row?.[name])))).toEqual(stated);
  expect(row?.['outcomes']).toBe('Yes;No');
  const [header = '', line = ''] = (await ask(path, { accept: 'text/csv' })).body.split('\r\n');
  const names = header.split(',');
  expect(names).toEqual(Object.keys(row ?? {}));
  expect(names).toEqual(expect.arrayContaining([...figures, 'yes_price_24h_changes', 'no_price_7d_changes']));
  // Texts with commas and quotes come before the prices.
  expect(line).toContain(`,Yes;No,${stated.map((figure) => figure ?? '').join(',')},`);
});

test.each([PARQUET, ARROW])('a list without rows is a file of its columns, as %s', async (accept) => {
  const answer = await ask('trades/whales?min_size=999999999', { accept });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, accept]);
  if (accept === PARQUET) {
    expect(await rowsOf(answer.rawPayload)).toEqual([]);
    expect(await duck(`DESCRIBE SELECT * FROM '${join(directory, 'answer.parquet')}'`)).toContainEqual(
      expect.objectContaining({ column_name: 'trade_id' }),
    );
  }
});

test('no two columns of a list have the same name', async () => {
  const folder = new URL('../../../src/schemas/', import.meta.url);
  const modules = await Promise.all(
    readdirSync(folder).map((name) => import(new URL(name, folder).href) as Promise<Record<string, unknown>>),
  );
  const rows = modules
    .flatMap((one) => Object.entries(one))
    .flatMap(([name, schema]) => (schema instanceof z.ZodObject ? [[name, schema] as const] : []));
  expect(rows.length).toBeGreaterThan(30);
  for (const [name, schema] of rows) {
    const names = flatColumns(schema).map((column) => column.name);
    expect([name, names.filter((one, at) => names.indexOf(one) !== at)]).toEqual([name, []]);
  }
});

test('a link asks for a format by `format`, which counts before Accept, and a browser saves the file', async () => {
  const path = 'markets/trades?provider=kalshi&market_id=KXCOL';
  const types = { csv: 'text/csv', ndjson: 'application/x-ndjson', parquet: PARQUET, arrow: ARROW };
  for (const [format, type] of Object.entries(types)) {
    const linked = await ask(`${path}&format=${format}`, { accept: 'text/html,*/*;q=0.8' });
    const asked = await ask(path, { accept: type });
    expect([linked.statusCode, linked.headers['content-type']]).toEqual([200, asked.headers['content-type']]);
    expect(linked.headers['content-disposition']).toBe(`attachment; filename="trades.${format}"`);
    expect([asked.headers['content-disposition'], linked.headers.etag]).toEqual([undefined, asked.headers.etag]);
    expect(linked.rawPayload.equals(asked.rawPayload)).toBe(true);
  }
  const json = await ask(`${path}&format=json`, { accept: 'text/csv' });
  expect([json.json().trades.length, json.headers['content-disposition']]).toEqual([2, undefined]);
  const wrong = await ask(`${path}&format=xls`, {});
  expect([wrong.statusCode, wrong.json().error.error_text]).toEqual([
    400,
    expect.stringContaining('format: one of json, csv, ndjson, parquet or arrow'),
  ]);
});

test('pages of all formats go on from each other: the cursor of one is taken by the others', async () => {
  const path = 'markets/trades?provider=kalshi&market_id=KXCOL&limit=1';
  const first = await ask(`${path}&format=csv`, {});
  const cursor = encodeURIComponent(String(first.headers['x-next-cursor']));
  const second = await ask(`${path}&cursor=${cursor}`, {});
  expect([second.statusCode, second.json().trades.length]).toEqual([200, 1]);
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
