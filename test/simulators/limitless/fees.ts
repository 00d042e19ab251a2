import type { Side } from './model.ts';

/** [price in ticks, fee in basis points]; between two points the fee runs straight. Makers pay nothing. */
const BUY_BPS: readonly (readonly [number, number])[] = [
  [0, 300],
  [500, 300],
  [550, 252],
  [600, 213],
  [650, 180],
  [700, 151],
  [750, 126],
  [800, 105],
  [850, 85],
  [900, 68],
  [950, 53],
  [990, 42],
  [1000, 40],
];
/** Mirrored above one half. */
const SELL_BPS: readonly (readonly [number, number])[] = [
  [0, 42],
  [10, 42],
  [100, 78],
  [200, 111],
  [300, 132],
  [400, 144],
  [500, 150],
];

export interface Totals {
  contractsGross: bigint;
  contractsFee: bigint;
  contractsNet: bigint;
  usdGross: bigint;
  usdFee: bigint;
  usdNet: bigint;
}

export const NO_TOTALS: Totals = {
  contractsGross: 0n,
  contractsFee: 0n,
  contractsNet: 0n,
  usdGross: 0n,
  usdFee: 0n,
  usdNet: 0n,
};

/** Basis points a taker is charged at the mean price of his fills. */
export function takerFeeBps(side: Side, contracts: bigint, usd: bigint): number {
  // Hundredths of a tick are fine enough for a charge in whole basis points.
  const ticks = Number((usd * 100_000n) / contracts) / 100;
  return side === 'BUY' ? along(BUY_BPS, ticks) : along(SELL_BPS, Math.min(ticks, 1000 - ticks));
}

/** What a taker gets and pays: a buyer's fee is kept back in contracts, a seller's in USDC. */
export function takerTotals(side: Side, contracts: bigint, usd: bigint, bps: number): Totals {
  const contractsFee = side === 'BUY' ? (contracts * BigInt(bps)) / 10_000n : 0n;
  const usdFee = side === 'SELL' ? (usd * BigInt(bps)) / 10_000n : 0n;
  return {
    contractsGross: contracts,
    contractsFee,
    contractsNet: contracts - contractsFee,
    usdGross: usd,
    usdFee,
    usdNet: usd - usdFee,
  };
}

function along(points: readonly (readonly [number, number])[], ticks: number): number {
  for (let i = 1; i < points.length; i++) {
    const [from, fromBps] = points[i - 1] as readonly [number, number];
    const [to, toBps] = points[i] as readonly [number, number];
    if (ticks <= to) return Math.round(fromBps + ((toBps - fromBps) * (ticks - from)) / (to - from));
  }
  return (points.at(-1) as readonly [number, number])[1];
}
