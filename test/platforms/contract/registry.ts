import type { Platform } from '../../../src/core/model.ts';
import type { PlatformTruth } from './truth.ts';

/** The truth of each platform; one added to PLATFORMS does not compile until it is here. */
export const TRUTHS = {
  kalshi: async () => (await import('../kalshi/truth.ts')).startKalshiTruth(),
  polymarket: async () => (await import('../polymarket/truth.ts')).startPolymarketTruth(),
  limitless: async () => (await import('../limitless/truth.ts')).startLimitlessTruth(),
} satisfies Record<Platform, () => Promise<PlatformTruth>>;

export type TruthOf<P extends Platform> = Awaited<ReturnType<(typeof TRUTHS)[P]>>;
