import { fixedText } from '../lib/index.ts';

const LEVELS: Record<string, number> = { BTC: 86_200, ETH: 3_140, SOL: 172 };
const WAVES = [
  { seconds: 97, weight: 0.0004 },
  { seconds: 613, weight: 0.0011 },
  { seconds: 5_021, weight: 0.004 },
  { seconds: 61_007, weight: 0.011 },
];

/** Price of a crypto asset at a moment, USD ×10^18: a fixed function of time, so that every reader sees the same past. */
export function underlyingAt(symbol: string, ms: number): bigint {
  const level = LEVELS[symbol] ?? 100;
  const swing = WAVES.reduce((sum, { seconds, weight }) => sum + weight * Math.sin(ms / 1000 / seconds + level), 0);
  return BigInt(Math.round(level * (1 + swing) * 1e8)) * 10n ** 10n;
}

export const isKnownSymbol = (symbol: string): boolean => symbol in LEVELS;
export const underlyingText = (symbol: string, ms: number): string => fixedText(underlyingAt(symbol, ms), 18, 18);

const STEPS_PER_CANDLE = 8;

/** An oracle bar of the asset; prices ×10^18 as decimal integers. */
export function oracleRow(symbol: string, startMs: number, lengthMs: number) {
  const path = Array.from({ length: STEPS_PER_CANDLE + 1 }, (_, i) =>
    underlyingAt(symbol, startMs + (lengthMs * i) / STEPS_PER_CANDLE),
  );
  const open = path[0] as bigint;
  const close = path[STEPS_PER_CANDLE] as bigint;
  const high = path.reduce((a, b) => (b > a ? b : a));
  const low = path.reduce((a, b) => (b < a ? b : a));
  return { timestamp: startMs / 1000, ...texts({ open, high, low, close }), volume: '0' };
}

const texts = <K extends string>(values: Record<K, bigint>): Record<K, string> =>
  Object.fromEntries(Object.entries<bigint>(values).map(([key, value]) => [key, value.toString()])) as Record<
    K,
    string
  >;
