import { rescale, sum, toNumber } from './exact.ts';
import type { ServedMarket } from './pipeline.ts';

/** A trade in terms of the first outcome: price in units of 10^-10, time in ms. */
export interface FirstPrice {
  atMs: number;
  price: bigint;
}

export const HORIZONS_MS = { '1h': 3_600_000, '1d': 86_400_000, '7d': 604_800_000 } as const;
const ONE = 10n ** 10n;

type Facts = Pick<ServedMarket, 'status' | 'trading_end_at' | 'resolved_at' | 'metadata' | 'outcomes'>;

/** Why a settled market is in no bin, or its price and payout at the horizon before it closed. */
function observed(market: Facts, trades: readonly FirstPrice[], horizonMs: number) {
  const ends = [market.trading_end_at, market.resolved_at].filter((end) => end !== null).map(Date.parse);
  if (ends.length === 0) return 'unknown_close';
  const payouts = market.metadata['payouts'] as Record<string, number> | undefined;
  const payout = payouts?.[market.outcomes[0]?.id ?? ''];
  if (payout === undefined) return 'unknown_payout';
  if (payout !== 0 && payout !== 1) return 'fractional_payout';
  const instant = Math.min(...ends) - horizonMs;
  const last = trades.findLast(({ atMs }) => atMs <= instant);
  return last === undefined ? 'no_price' : { price: last.price, payout: BigInt(payout) };
}

const mean = (total: bigint, scale: number, count: number): number | null => {
  if (count === 0) return null;
  // Half to even, as the total is whole and the count small: twelve places more than are kept.
  const fine = (total * 10n ** 30n) / BigInt(count);
  return toNumber(rescale(fine, scale + 30, 6), 6);
};

/** What analytics/calibration must say of these settled markets; `tradesOf` in the order of time, blocks left out. */
export function expectedCalibration<M extends Facts>(
  markets: readonly M[],
  tradesOf: (market: M) => readonly FirstPrice[],
  { horizon, bins }: { horizon: keyof typeof HORIZONS_MS; bins: number },
) {
  const found = markets.map((market) => observed(market, tradesOf(market), HORIZONS_MS[horizon]));
  const left = (why: string): number => found.filter((one) => one === why).length;
  const counted = found.filter((one) => typeof one !== 'string');
  const squares = (rows: typeof counted) => sum(rows.map(({ price, payout }) => (price - payout * ONE) ** 2n));
  return {
    calibration: Array.from({ length: bins }, (_, bin) => {
      const rows = counted.filter(({ price }) => {
        const at = Number((price * BigInt(bins)) / ONE);
        return Math.min(at, bins - 1) === bin;
      });
      const cameTrue = rows.filter(({ payout }) => payout === 1n).length;
      return {
        markets: rows.length,
        came_true: cameTrue,
        came_true_share: mean(BigInt(cameTrue), 0, rows.length),
        mean_price: mean(sum(rows.map(({ price }) => price)), 10, rows.length),
        brier_score: mean(squares(rows), 20, rows.length),
      };
    }),
    settled_markets: markets.length,
    markets: counted.length,
    left_out: {
      no_price: left('no_price'),
      fractional_payout: left('fractional_payout'),
      unknown_payout: left('unknown_payout'),
      unknown_close: left('unknown_close'),
    },
    brier_score: mean(squares(counted), 20, counted.length),
  };
}
