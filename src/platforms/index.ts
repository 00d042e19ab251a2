import type { Platform } from '../schemas.ts';
import { createKalshiData } from './kalshi/data.ts';
import { createLimitlessData } from './limitless/data.ts';
import type { AdapterDeps, PlatformData } from './platform.ts';
import { createPolymarketData } from './polymarket/data.ts';

/** The read side of every platform; a platform added to PLATFORMS does not compile until it is here. */
export const createPlatforms = (deps: AdapterDeps): Record<Platform, PlatformData> => ({
  kalshi: createKalshiData(deps),
  polymarket: createPolymarketData(deps),
  limitless: createLimitlessData(deps),
});
