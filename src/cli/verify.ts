import { openClickHouse } from '../stores/clickhouse/client.ts';
import { ConfigError } from '../core/config-error.ts';
import { loadConfig } from '../core/config.ts';
import { requireStore } from '../core/data-dir.ts';
import { createLog } from '../core/log.ts';
import { isSound, type Verified, verifyRollups } from '../stores/clickhouse/verify-rollups.ts';
import { readOptions, runCommand } from './command.ts';
import { DAY_MS, systemClock } from '../core/time.ts';

const USAGE = `npm run verify -- [--all | --markets N] [--seed N]
Recomputes every roll-up and the platforms' own bars from the raw trades, of 200 markets drawn by the seed (default:
the day) or of all, compares them column by column and prints what it found. Exit code 1 when anything differs. Changes nothing.
The store is CLICKHOUSE_URL, else the one in DATA_DIR (of a service that is stopped).`;

const MARKETS = 200;

await runCommand(USAGE, async (args) => {
  const { markets, seed } = readArguments(args);
  const config = loadConfig(process.env, 'stores');
  if (config.CLICKHOUSE_URL === undefined) requireStore(config.dataDir, 'clickhouse');
  const clickhouse = await openClickHouse(config, createLog(config, process.stderr));
  try {
    const found = await verifyRollups(clickhouse, { markets, seed, clock: systemClock });
    const wrong = found.results.filter((result) => !isSound(result));
    process.stdout.write(table(found.results));
    for (const { rollup, example } of wrong) process.stdout.write(`${rollup}: ${example}\n`);
    const about = `${found.markets} markets of a store of ${found.trades} trades`;
    process.stdout.write(
      wrong.length === 0
        ? `All roll-ups and bars agree with the trades: ${about}.\n`
        : `Differences found: ${about}.\n`,
    );
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    await clickhouse.close();
  }
});

function readArguments(args: string[]): { markets: number | undefined; seed: number } {
  const given = readOptions(USAGE, args, {
    all: { type: 'boolean' },
    markets: { type: 'string' },
    seed: { type: 'string' },
  });
  const integer = (name: 'markets' | 'seed', otherwise: number): number => {
    const text = given[name];
    if (text === undefined) return otherwise;
    if (!/^\d{1,7}$/.test(text))
      throw new ConfigError(`--${name}: must be a whole number, received ${JSON.stringify(text)}`);
    return Number(text);
  };
  if (given.all && given.markets !== undefined) throw new ConfigError('--all: not together with --markets');
  const markets = given.all ? undefined : integer('markets', MARKETS);
  return { markets, seed: integer('seed', Math.floor(systemClock.now() / DAY_MS)) };
}

function table(results: Verified[]): string {
  const rows = [
    ['roll-up', 'rows', 'missing', 'extra', 'different'],
    ...results.map((r) => [r.rollup, ...[r.compared, r.missing, r.extra, r.different].map(String)]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ');
  return `${rows.map(line).join('\n')}\n`;
}
