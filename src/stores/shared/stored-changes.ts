import type { Clock } from '../../core/time.ts';
import { PLATFORMS, type Platform } from '../../core/model.ts';
import type { Shared } from './shared.ts';
import { partsOf } from '../../core/parts.ts';

/** Markets that a process keeps in memory, by platform and reference. */
interface Kept {
  forget(platform: Platform, refs: readonly string[]): void;
  forgetAll(): void;
}

/** Interval of looks at whether messages were missed, which a connection shows for half a second. */
const LISTEN_MS = 250;
/** References of one message. */
const MESSAGE_REFS = 1000;
const CHANNEL = 'stored_markets';

/** Announces to every process that markets were stored with other facts or another status. */
export function announceStored(shared: Pick<Shared, 'publish'>, platform: Platform, refs: readonly string[]): void {
  for (const part of partsOf(refs, MESSAGE_REFS)) {
    void shared.publish(CHANNEL, [platform, ...part].join('\n'));
  }
}

/** Calls back when any process has stored markets of a platform with other facts or another status. */
export const followMarkets = (
  shared: Pick<Shared, 'subscribe'>,
  onStored: (platform: Platform, refs: readonly string[]) => void,
): Promise<void> =>
  shared.subscribe(CHANNEL, (message) => {
    const [name, ...refs] = message.split('\n');
    const platform = PLATFORMS.find((one) => one === name);
    if (platform) onStored(platform, refs);
  });

/** Drops markets from memory when any process has stored them, and all while messages may be missed. Returns how to stop it. */
export async function followStored(
  shared: Pick<Shared, 'subscribe' | 'healthy'>,
  kept: Kept,
  clock: Clock,
): Promise<() => void> {
  await followMarkets(shared, (platform, refs) => kept.forget(platform, refs));
  return clock.every(LISTEN_MS, () => {
    if (!shared.healthy()) kept.forgetAll();
  });
}
