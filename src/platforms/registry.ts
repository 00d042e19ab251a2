import { PLATFORMS, type Platform } from '../core/model.ts';
import type { Settings } from '../core/settings.ts';
import type { Clock } from '../core/time.ts';
import type { PlatformAdapters } from './adapters.ts';
import type { AdapterDeps, PlatformData } from './contract.ts';
import { kalshi } from './kalshi/index.ts';
import { limitless } from './limitless/index.ts';
import type { PlatformOrders } from './order-contract.ts';
import { polymarket } from './polymarket/index.ts';
import type { PlatformSockets } from './sockets/contract.ts';

/** The adapters of every platform; the code does not compile if one of PLATFORMS is missing. */
export const ADAPTERS: { readonly [P in Platform]: PlatformAdapters<P> } = { kalshi, polymarket, limitless };

/** The order adapter of every platform that has one. */
export type OrderAdapters = { readonly [P in Platform]?: PlatformOrders<P> };

/** What `make` gives for each platform, without those for which it gives nothing. */
const each = <T>(make: (adapters: PlatformAdapters<Platform>) => T | undefined): { [P in Platform]?: T } =>
  Object.fromEntries(
    PLATFORMS.flatMap((platform) => {
      const made = make(ADAPTERS[platform] as PlatformAdapters<Platform>);
      return made === undefined ? [] : [[platform, made]];
    }),
  );

/** The read side of every platform. */
export const createPlatforms = (deps: AdapterDeps): Record<Platform, PlatformData> =>
  each(({ data }) => data(deps)) as Record<Platform, PlatformData>;

export const createPlatformOrders = (deps: AdapterDeps): OrderAdapters =>
  each(({ orders }) => orders?.(deps)) as OrderAdapters;

/** The sockets of every platform that has any. */
export const createPlatformSockets = (
  settings: Settings,
  clock: Clock,
): { readonly [P in Platform]?: PlatformSockets } => each(({ sockets }) => sockets?.(settings, clock));
