import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { generateSource } from 'oazapfts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filled, startWholeService, type WholeService } from '../../helpers/whole-service.ts';
import { eventually } from '../../oracle/pipeline.ts';

const run = promisify(execFile);
const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const TYPES = { strict: true, module: 'NodeNext', target: 'ES2023', types: ['node'], noEmit: true, skipLibCheck: true };

/** What somebody writes who has nothing but the client made from the description. */
const PROGRAM = `
import * as forecastle from './client.js';

const [url = '', key = '', nickname = ''] = process.argv.slice(2);
forecastle.defaults.baseUrl = url;
forecastle.defaults.headers = { 'x-api-key': key };

const { markets, pagination } = await forecastle.listMarkets('kalshi', { status: 'open', limit: 5 });
const [first] = markets;
if (!first) throw new Error('no market');
const id: string = first.platform_id;
const book = await forecastle.getOrderBook(id, 'kalshi');
const { trades } = await forecastle.listMarketTrades('kalshi', id, { limit: 3 });
const { metrics } = await forecastle.getMetricsSnapshot('kalshi', id);
const volume: number | null = metrics.volume.total;
const whales = await forecastle.listWhaleTrades({ minSize: 0, limit: 2 });
const { categories } = await forecastle.listCategories();
const positions = await forecastle.listUserPositions('kalshi', nickname);
const health = await forecastle.getHealth();

const { events } = await forecastle.listEvents('kalshi', { status: 'open', sort: 'markets', limit: 3 });
const [largest] = events;
if (!largest) throw new Error('no event');
const whole = await forecastle.getEvent(largest.id, 'kalshi', { includeMarkets: true });
const eventVolume: number | null = whole.event.volume_total;
const { series } = await forecastle.listSeries('kalshi', { limit: 200 });
const ids = largest.market_ids.slice(0, 3);
const batch = await forecastle.listMarkets('kalshi', { marketIds: [...ids, 'KXNONE'].join() });
const books = await forecastle.listOrderBooks('kalshi', ids.join(), { depth: 1 });
const priced = await forecastle.listMarketPrices('kalshi', ids.join());
const source: string | null | undefined = priced.data[0]?.source;
const { calibration } = await forecastle.getCalibration({ platform: 'kalshi', horizon: '1h' });
const { files } = await forecastle.listFiles({ dataset: 'trades', platform: 'kalshi' });

const refused = await forecastle.getMarket('no-such-market', 'kalshi').catch((error) => error.data.error.status);

// @ts-expect-error the description knows three platforms
void (() => forecastle.listMarkets('elsewhere'));
// @ts-expect-error unknown is null, so a figure is not simply a number
const never: number = metrics.volume.total;
// @ts-expect-error a sum that is not known for every market is null
const neverKnown: number = whole.event.volume_total;
// @ts-expect-error these are the datasets
void (() => forecastle.listFiles({ dataset: 'books' }));
// @ts-expect-error an order names its market
void (() => forecastle.placeOrder({ platform: 'kalshi', side: 'buy', outcome: 'yes', type: 'limit', size: 1 }));

console.log(JSON.stringify({
  ids: markets.map((market) => market.id), total: pagination.total, book: book.data.market_id, volume,
  trades: trades.every((trade) => trade.market_id === id), whales: whales.trades.length,
  events: whole.markets.map((market) => market.event_id === largest.event_id), eventVolume,
  series: series.some((one) => one.series_id === largest.series_id), source, bins: calibration.length,
  batch: [batch.markets.map((market) => market.platform_id).join(), batch.meta.not_found], asked: ids.join(),
  books: books.data.map((one) => one.market_id).join(), prices: priced.data.map((one) => one.market_id).join(),
  files: files.map((file) => file.path),
  categories: categories.length, user: positions.user, health: health.status, refused,
}));
`;

let whole: WholeService;
let directory: string;

async function isListed(path: string, list: string): Promise<boolean> {
  const body = (await (await whole.get(`/v1/api/${path}`)).json()) as Record<string, unknown[]>;
  return (body[list] ?? []).length > 0;
}

/** Both are made some seconds after markets and trades. */
const missing = async (): Promise<string[]> => [
  ...((await isListed('files?dataset=trades&platform=kalshi', 'files')) ? [] : ['no day file of trades']),
  ...((await isListed('analytics/categories', 'categories')) ? [] : ['no category']),
];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-client-'));
  whole = await startWholeService({ FILES_SECONDS: '2' });
  await filled(whole);
  expect(await eventually(missing)).toEqual([]);
});
afterAll(async () => {
  await whole.close();
  rmSync(directory, { recursive: true });
});

it('a TypeScript client made from the served description compiles strictly and reads a running service', async () => {
  const description = join(directory, 'openapi.json');
  writeFileSync(description, await (await whole.get('/v1/api/openapi.json')).text());
  writeFileSync(join(directory, 'client.ts'), await generateSource(description, { optimistic: true }));
  writeFileSync(join(directory, 'program.ts'), PROGRAM);
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: TYPES, files: ['program.ts'] }));
  symlinkSync(MODULES, join(directory, 'node_modules'));

  const tsc = join(MODULES, 'typescript/bin/tsc');
  const checked = await run(process.execPath, [tsc, '-p', directory]).catch((error: { stdout: string }) => error);
  expect(checked.stdout).toBe('');

  const { nickname } = whole.simulators[0].world.demoAccount;
  const argv = ['--import', 'tsx', join(directory, 'program.ts'), whole.service.url, whole.key, nickname];
  const said = JSON.parse((await run(process.execPath, argv, { cwd: directory })).stdout) as Record<string, unknown>;
  const ids = said['ids'] as string[];
  expect(ids).toHaveLength(5);
  expect(ids.every((id) => id.startsWith('kalshi:'))).toBe(true);
  const asked = String(said['asked']);
  expect(asked.split(',')).not.toContain('');
  expect(said).toMatchObject({
    events: expect.arrayContaining([true]),
    series: true,
    batch: [asked, ['KXNONE']],
    books: asked,
    prices: asked,
    files: expect.arrayContaining([expect.stringMatching(/^dataset=trades\/platform=kalshi\/date=/)]),
    book: ids[0]?.replace('kalshi:', ''),
    trades: true,
    whales: 2,
    user: nickname,
    refused: 404,
  });
  expect(said['total']).toBeGreaterThanOrEqual(5);
  expect(said['categories']).toBeGreaterThan(0);
  expect(said['events']).not.toContain(false);
  expect(said['bins']).toBeGreaterThan(0);
  expect(['trade', 'quote']).toContain(said['source']);
  expect(['ok', 'degraded']).toContain(said['health']);
});
