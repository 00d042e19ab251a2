import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { type ApiResult, benchApi } from './api.ts';
import { benchAuth } from './auth.ts';
import { benchIngestion } from './ingest.ts';
import { benchOrders, type OrderTimes } from './orders.ts';

const HELP = `npm run bench [-- --quick]
Measures everything beside a ceiling or a peer of the same run, on embedded stores in a temporary directory and simulated
platforms: tables here, and JSON in test/bench/results. No settings are read.

  --quick  a smaller store, for a look instead of figures to quote
`;
if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
  process.exit(0);
}
const quick = process.argv.includes('--quick');
const MANY_MARKETS = { endpoints: 'GET markets' };
const sizes = quick
  ? [
      { trades: 200_000, markets: 2000, asked: { cached: true } },
      { trades: 200_000, markets: 200_000, asked: MANY_MARKETS },
    ]
  : [
      { trades: 1_000_000, markets: 10_000, asked: { cached: true } },
      { trades: 20_000_000, markets: 50_000, asked: {} },
      { trades: 1_000_000, markets: 2_000_000, asked: MANY_MARKETS },
    ];
const fixed = (value: number, digits = 1): string => value.toFixed(digits);
const p50Of = ({ endpoints }: ApiResult, name: string): number =>
  endpoints.find(({ endpoint }) => endpoint === name)?.uncachedP50 ?? NaN;

process.stdout.write(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}\n\n`);
const ingestion = await benchIngestion(quick ? 200 : 1000, quick ? 200 : 500);
process.stdout.write(`Ingestion of ${ingestion.trades} trades, end to end with every roll-up\n`);
console.table({
  'rows/s': {
    ours: ingestion.oursPerSecond,
    ceiling: ingestion.ceilingPerSecond,
    ratio: fixed(ingestion.ofCeiling, 2),
  },
  'without roll-ups': {
    ours: ingestion.withoutRollupsPerSecond,
    ceiling: '',
    ratio: `roll-ups cost ${fixed(ingestion.rollupCost * 100, 0)} %`,
  },
});

const auth = await benchAuth();
process.stdout.write('\nIdentification and limits on a cached answer (milliseconds, p50)\n');
console.table({
  'cached rows': {
    'bare route': fixed(auth.bareMs, 3),
    'behind a key': fixed(auth.keyedMs, 3),
    added: fixed(auth.keyedMs - auth.bareMs, 3),
  },
});

const orders = await benchOrders(quick ? 10 : 60);
process.stdout.write('\nOrders at 50 a second, at platforms that take 100 ms (milliseconds)\n');
const told = (times: OrderTimes) => ({
  ...Object.fromEntries(Object.entries(times).map(([name, value]) => [name, fixed(value)])),
  'beyond the relay, p50': fixed(times.addedP50 - orders.relay.addedP50),
});
console.table({
  'a bare relay': told(orders.relay),
  ...Object.fromEntries(orders.platforms.map(({ platform, ...times }) => [platform, told(times)])),
});

const stores: ApiResult[] = [];
for (const { trades, markets, asked } of sizes) {
  const result = await benchApi(trades, markets, asked);
  const smaller = stores[0];
  stores.push(result);
  const { rawBytesPerTrade, allBytesPerTrade } = result;
  process.stdout.write(
    `\n${trades} trades in ${result.markets} markets: ${fixed(rawBytesPerTrade)} bytes a trade on disk, ${fixed(allBytesPerTrade)} with every roll-up\nUncached answers and the same statements alone (milliseconds)\n`,
  );
  console.table(
    Object.fromEntries(
      result.endpoints.map((r) => [
        r.endpoint,
        {
          p50: fixed(r.uncachedP50),
          p99: fixed(r.uncachedP99),
          'its SQL p50': fixed(r.sqlP50),
          'its SQL p99': fixed(r.sqlP99),
          'added p50': fixed(r.addedP50),
          ...(smaller ? { 'of the first': `${fixed(r.uncachedP50 / p50Of(smaller, r.endpoint), 2)} ×` } : {}),
        },
      ]),
    ),
  );
  if (result.cached.length === 0) continue;
  process.stdout.write('\nLists from the cache (requests a second over 16 connections from another process)\n');
  console.table(
    Object.fromEntries(
      result.cached.map((r) => [
        r.endpoint,
        { bytes: r.bytes, cached: r.cachedPerSecond, 'bare route': r.barePerSecond, ratio: fixed(r.ofBare, 2) },
      ]),
    ),
  );
}

const folder = new URL('results/', import.meta.url);
await mkdir(folder, { recursive: true });
const file = new URL(`${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`, folder);
await writeFile(file, `${JSON.stringify({ node: process.version, ingestion, auth, orders, stores }, null, 2)}\n`);
process.stdout.write(`\nWritten to ${file.pathname}\n`);
process.exit(0);
