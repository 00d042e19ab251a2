import { PLATFORMS, type Platform } from '../core/model.ts';
import type { AdapterDeps, PlatformData } from './contract.ts';
import { createKalshiData } from './kalshi/data.ts';
import { createLimitlessData } from './limitless/data.ts';
import { createPolymarketData } from './polymarket/data.ts';

/** The read adapter of each platform; the code does not compile if one of PLATFORMS is missing. */
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
