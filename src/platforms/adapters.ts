import type { Settings } from '../core/settings.ts';
import type { Clock } from '../core/time.ts';
import type { Platform } from '../core/model.ts';
import type { AdapterDeps, PlatformData } from './contract.ts';
import type { PlatformOrders } from './order-contract.ts';
import type { PlatformSockets } from './sockets/contract.ts';

/** How the service reads a platform, trades there and follows its sockets. */
export interface PlatformAdapters<P extends Platform> {
  data(deps: AdapterDeps): PlatformData;
  /** Absent: the platform takes no orders here. */
  orders?(deps: AdapterDeps): PlatformOrders<P>;
  /** Absent: the platform has no sockets, and everything is polled. */
  sockets?(settings: Settings, clock: Clock): PlatformSockets;
}
