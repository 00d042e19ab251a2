import type { Platform } from '../../../src/core/model.ts';
import type { Clock } from '../../../src/core/time.ts';
import type { PlatformTruth } from './truth.ts';

/** The truth of each platform; one added to PLATFORMS does not compile until it is here. */
export const TRUTHS = {
  kalshi: async (service: Clock) => (await import('../kalshi/truth.ts')).startKalshiTruth(service),
  polymarket: async (service: Clock) => (await import('../polymarket/truth.ts')).startPolymarketTruth(service),
  limitless: async (service: Clock) => (await import('../limitless/truth.ts')).startLimitlessTruth(service),
} satisfies Record<Platform, (service: Clock) => Promise<PlatformTruth>>;

export type TruthOf<P extends Platform> = Awaited<ReturnType<(typeof TRUTHS)[P]>>;
