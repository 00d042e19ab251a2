import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { PARTS } from './parts.ts';
import { type Measured, targetRows } from './targets.ts';

const NAMES = Object.keys(PARTS);
const HELP = `npm run bench [-- --quick] [-- --only NAME …]
Measures everything beside a ceiling or a peer of the same run, on embedded stores in a temporary directory and simulated
platforms: tables here, and JSON in test/bench/results. No settings are read.

  --quick  smaller stores and shorter loads, for a look instead of figures to quote
  --trades --markets --seconds  size of the stores of reads, mixed and analysts, and how long each measurement takes
  --only   this part, or several: ${NAMES.join(', ')}
`;

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    trades: { type: 'string' },
    markets: { type: 'string' },
    seconds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const only = [...values.only, ...positionals];
const unknown = only.filter((name) => !NAMES.includes(name));
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`bench: no part ${unknown.join(', ')}\n`);
  process.stdout.write(HELP);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const count = (name: 'trades' | 'markets' | 'seconds'): number | undefined =>
  values[name] === undefined ? undefined : Number(values[name]);
const size = { trades: count('trades'), markets: count('markets'), seconds: count('seconds') };

process.stdout.write(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}\n`);
const results: Record<string, unknown> = {};
for (const [name, part] of Object.entries(PARTS)) {
  const isAsked = only.length === 0 ? part.byDefault : only.includes(name);
  if (isAsked) results[name] = await part.run(values.quick, size);
}

const targets = targetRows(results as Measured);
if (targets.length > 0) {
  process.stdout.write('\nFigures that have a target\n');
  console.table(Object.fromEntries(targets.map(({ figure, now, target }) => [figure, { now, target }])));
}

const folder = new URL('results/', import.meta.url);
await mkdir(folder, { recursive: true });
const file = new URL(`${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`, folder);
await writeFile(file, `${JSON.stringify({ node: process.version, ...results, targets }, null, 2)}\n`);
process.stdout.write(`\nWritten to ${file.pathname}\n`);
process.exit();
