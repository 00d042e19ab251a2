import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../core/model.ts';
import type { Kept } from '../stores/shared/stored-changes.ts';
import type { Hub } from './hub.ts';

const RETRY_MS = 1000;

/**
 * Drops look-ups of markets whose changes are logged, where other processes cannot announce them: the hub polls the log as for a stream of
 * all markets. Until the log can be read, every look-up is dropped after a second.
 */
export async function followMarkets(
  hub: Pick<Hub, 'follower'>,
  markets: Kept,
  platforms: readonly Platform[],
  stop: AbortSignal,
): Promise<void> {
  await Promise.all(
    platforms.map(async (platform) => {
      const follower = hub.follower({ feed: 'markets', platform });
      follower.join({
        onRows: (_partition, rows) =>
          markets.forget(
            platform,
            rows.map(({ ref }) => ref),
          ),
        onGap: () => markets.forgetAll(),
      });
      while (!stop.aborted) {
        try {
          await follower.ready();
          return markets.forgetAll();
        } catch {
          markets.forgetAll();
          await sleep(RETRY_MS, undefined, { ref: false });
        }
      }
    }),
  );
}
