import { PLATFORMS, type Platform } from '../core/model.ts';
import type { AdapterDeps, PlatformData } from './contract.ts';
import { createKalshiData } from './kalshi/data.ts';
import { createLimitlessData } from './limitless/data.ts';
import { createPolymarketData } from './polymarket/data.ts';

/** How the read side of each platform is made; a platform added to PLATFORMS does not compile until it is here. */
export const DATA_ADAPTERS: Readonly<Record<Platform, (deps: AdapterDeps) => PlatformData>> = {
  kalshi: createKalshiData,
  polymarket: createPolymarketData,
  limitless: createLimitlessData,
};

/** The read side of every platform. */
export const createPlatforms = (deps: AdapterDeps): Record<Platform, PlatformData> =>
  Object.fromEntries(PLATFORMS.map((platform) => [platform, DATA_ADAPTERS[platform](deps)])) as Record<
    Platform,
    PlatformData
  >;
