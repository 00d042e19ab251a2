import { z } from 'zod';
import type { CalibrationAnswer } from '../schemas/calibration.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { decimalNumber, divideHalfEven, ONE_PRICE, PRICE_SCALE } from '../core/decimal.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';

const HORIZON_SECONDS = { '1h': 3600, '1d': 86_400, '7d': 7 * 86_400 } as const;
type Horizon = keyof typeof HORIZON_SECONDS;
export const HORIZONS = Object.keys(HORIZON_SECONDS) as [Horizon, ...Horizon[]];
/** Markets per answer, so that its cost does not grow with the store. */
const MOST_MARKETS = 20_000;
/** Shares, mean prices and scores. */
const SCALE = 6;

const LEFT_OUT = ['no_price', 'fractional_payout', 'unknown_payout', 'unknown_close'] as const;
/** A row of sql/queries/calibration.sql. Sums of prices have 10 decimals, of squares 20. */
const Row = z.object({
  why: z.enum(['', ...LEFT_OUT]),
  bin: z.coerce.number(),
  n: z.coerce.number(),
  came_true: z.coerce.number(),
  settled: z.coerce.number(),
  prices: z.string().nullable(),
  squares: z.string().nullable(),
});
type Row = z.infer<typeof Row>;
type Answer = z.input<typeof CalibrationAnswer>;

interface CalibrationFilter {
  platforms: readonly Platform[];
  /** '' for all. */
  category: string;
  horizon: Horizon;
  bins: number;
}

/** How often the first outcome of settled markets came true, by its price at the horizon before the close. */
export async function calibration(
  clickhouse: Pick<ClickHouse, 'query'>,
  { platforms, category, horizon, bins }: CalibrationFilter,
): Promise<{
  calibration: Answer['calibration'];
  meta: Pick<Answer['meta'], 'settled_markets' | 'markets' | 'left_out' | 'brier_score'>;
}> {
  const rows = await clickhouse.query('calibration', Row, {
    platforms: platforms.length === PLATFORMS.length ? [] : platforms,
    category,
    horizon: HORIZON_SECONDS[horizon],
    bins,
    most: MOST_MARKETS,
  });
  const counted = rows.filter(({ why }) => why === '');
  const markets = counted.reduce((sum, { n }) => sum + n, 0);
  const squares = counted.reduce((sum, row) => sum + squaresOf(row), 0n);
  const byBin = new Map(counted.map((row) => [row.bin, row]));
  return {
    calibration: Array.from({ length: bins }, (_, bin) => toBin(bin, bins, byBin.get(bin))),
    meta: {
      settled_markets: rows[0]?.settled ?? 0,
      markets,
      left_out: Object.fromEntries(
        LEFT_OUT.map((why) => [why, rows.find((row) => row.why === why)?.n ?? 0]),
      ) as Answer['meta']['left_out'],
      brier_score: mean(squares, 2 * PRICE_SCALE, markets),
    },
  };
}

const squaresOf = ({ squares }: Row): bigint => units(squares, 2 * PRICE_SCALE);

/** Decimal text in units of 10^-scale; sums are longer than parseDecimal accepts. */
function units(text: string | null, scale: number): bigint {
  const [whole = '0', fraction = ''] = (text ?? '0').split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
}

/** The mean of a sum in units of 10^-scale; null for a count of 0. */
const mean = (sum: bigint, scale: number, count: number): number | null =>
  count === 0 ? null : decimalNumber(divideHalfEven(sum, BigInt(count) * 10n ** BigInt(scale - SCALE)), SCALE);

function toBin(bin: number, bins: number, row: Row | undefined): Answer['calibration'][number] {
  const n = row?.n ?? 0;
  return {
    price_from: edge(bin, bins),
    price_to: edge(bin + 1, bins),
    markets: n,
    came_true: row?.came_true ?? 0,
    came_true_share: mean(BigInt(row?.came_true ?? 0) * ONE_PRICE, PRICE_SCALE, n),
    mean_price: mean(units(row?.prices ?? null, PRICE_SCALE), PRICE_SCALE, n),
    brier_score: mean(row ? squaresOf(row) : 0n, 2 * PRICE_SCALE, n),
  };
}

const edge = (at: number, bins: number): number =>
  decimalNumber(divideHalfEven(BigInt(at) * ONE_PRICE, BigInt(bins)), PRICE_SCALE);
