import { z } from 'zod';
import type { Clock } from '../../core/time.ts';
import { refreshWindows } from './windows.ts';
import { type ClickHouse, LONG_MS, type QueryParams } from './client.ts';
import { type KeyRange, keyRanges } from './key-ranges.ts';
import { keptFrom } from './retention.ts';
import { INTERVAL_SECONDS } from '../../core/model.ts';

/**
 * Roll-ups are behind the trades of a batch for a moment: differences are compared again after this time. They are reported when this many
 * comparisons in a row find the same ones, or after the last comparison.
 */
const NEXT_LOOK_MS = 1000;
const SAME_LOOKS = 3;
const MAX_LOOKS = 10;

const Compared = z.object({
  compared: z.coerce.number(),
  missing: z.coerce.number(),
  extra: z.coerce.number(),
  different: z.coerce.number(),
  example: z.string(),
});

/** One roll-up, or the platform's bars at one interval, compared with the trades: rows compared, and differences with their counts. */
export interface Verified extends z.infer<typeof Compared> {
  rollup: string;
}

interface VerifyOptions {
  /** Number of markets, chosen at random from `seed`; all if omitted. */
  markets?: number | undefined;
  seed?: number;
  /** The clock of the time between two comparisons. */
  clock: Clock;
}

const CHECKS: readonly { rollup: string; query: string; params?: QueryParams; ofWholeLives?: boolean }[] = [
  { rollup: 'candles_1m', query: 'verify_candles', params: { table: 'candles_1m', step: 60 } },
  { rollup: 'candles_1h', query: 'verify_candles', params: { table: 'candles_1h', step: 3600 } },
  { rollup: 'volume_1h', query: 'verify_volumes' },
  { rollup: 'market_totals', query: 'verify_totals', ofWholeLives: true },
  { rollup: 'whales', query: 'verify_whales', params: { table: 'whales' } },
  { rollup: 'whale_sizes', query: 'verify_whales', params: { table: 'whale_sizes' } },
  { rollup: 'market_windows', query: 'verify_windows' },
  ...Object.entries(INTERVAL_SECONDS).map(([interval, step]) => ({
    rollup: `bars of ${interval}`,
    query: 'verify_bars',
    params: { step, minutes: step < 3600 ? 1 : 60 },
  })),
];

export const isSound = ({ missing, extra, different }: Verified): boolean => missing + extra + different === 0;

/**
 * Recomputes every roll-up from the raw trades, of some markets or of all, and compares each column; the same for the platforms' own bars
 * at every interval served. If old trades are dropped, only the time since then is compared, without lifetime totals.
 */
export async function verifyRollups(
  clickhouse: ClickHouse,
  { markets, seed = 1, clock }: VerifyOptions,
): Promise<{ trades: number; markets: number; results: Verified[] }> {
  const Size = z.object({ trades: z.coerce.number(), markets: z.coerce.number() });
  const [size = { trades: 0, markets: 0 }] = await clickhouse.query('verify_size', Size, {}, { timeoutMs: LONG_MS });
  const keys = markets === undefined ? undefined : await sample(clickhouse, markets, seed);
  const ranges = keyRanges(keys === undefined ? size.trades : 0);
  const since = Math.floor((await keptFrom(clickhouse, 'trades')).getTime() / 1000);
  await refreshWindows(clickhouse);
  const checks = CHECKS.filter(({ ofWholeLives }) => !ofWholeLives || since === 0);
  const check = ({ rollup, query, params }: (typeof CHECKS)[number]): Promise<Verified> =>
    compare(clickhouse, rollup, query, { ...params, since, keys }, ranges);
  const results: Verified[] = [];
  for (const one of checks) results.push(await check(one));
  const differences = (): string =>
    JSON.stringify(
      results.filter((one) => !isSound(one)),
      (name, value: unknown) => (name === 'compared' ? 0 : value),
    );
  for (let looks = 1, same = 1; looks < MAX_LOOKS && same < SAME_LOOKS && !results.every(isSound); looks += 1) {
    const before = differences();
    await clock.sleep(NEXT_LOOK_MS);
    await refreshWindows(clickhouse);
    for (const [i, one] of checks.entries()) {
      if (!isSound(results[i]!)) results[i] = await check(one);
    }
    same = differences() === before ? same + 1 : 1;
  }
  return { trades: size.trades, markets: Math.min(size.markets, markets ?? Infinity), results };
}

/** Keys of `markets` markets, chosen at random from `seed`. */
async function sample(clickhouse: ClickHouse, markets: number, seed: number): Promise<bigint[]> {
  const rows = await clickhouse.query('verify_sample', z.object({ market_key: z.string() }), { markets, seed });
  return rows.map((row) => BigInt(row.market_key));
}

async function compare(
  clickhouse: ClickHouse,
  rollup: string,
  query: string,
  params: QueryParams,
  ranges: readonly KeyRange[],
): Promise<Verified> {
  const total: Verified = { rollup, compared: 0, missing: 0, extra: 0, different: 0, example: '' };
  for (const range of ranges) {
    const [row] = await clickhouse.query(query, Compared, { ...params, ...range }, { timeoutMs: LONG_MS });
    if (!row) continue;
    for (const count of ['compared', 'missing', 'extra', 'different'] as const) total[count] += row[count];
    total.example ||= row.example;
  }
  return total;
}
