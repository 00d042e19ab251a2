import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { benchApi } from './api.ts';
import { benchAuth } from './auth.ts';
import { benchIngestion } from './ingest.ts';

/** `npm run bench [-- --quick]`: every figure beside the ceiling or peer of the same run, as a table and as JSON. */
const quick = process.argv.includes('--quick');
const sizes = quick ? [200_000] : [1_000_000, 20_000_000];
const fixed = (value: number, digits = 1): string => value.toFixed(digits);

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

const endpoints = [];
for (const trades of sizes) {
  const results = await benchApi(trades, Math.min(50_000, trades / 100));
  endpoints.push(...results);
  process.stdout.write(`\nEndpoints at ${trades} trades (milliseconds; requests a second over 8 connections)\n`);
  console.table(
    Object.fromEntries(
      results.map((r) => [
        r.endpoint,
        {
          'uncached p50': fixed(r.uncachedP50),
          p99: fixed(r.uncachedP99),
          'its SQL p50': fixed(r.sqlP50),
          'added p50': fixed(r.addedP50),
          'cached/s': r.cachedPerSecond,
          'bare route/s': r.barePerSecond,
          ratio: fixed(r.ofBare, 2),
        },
      ]),
    ),
  );
}

const folder = new URL('results/', import.meta.url);
await mkdir(folder, { recursive: true });
const file = new URL(`${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`, folder);
await writeFile(file, `${JSON.stringify({ node: process.version, ingestion, auth, endpoints }, null, 2)}\n`);
process.stdout.write(`\nWritten to ${file.pathname}\n`);
process.exit(0);
