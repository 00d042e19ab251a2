import type { Clock } from '../../core/time.ts';
import { PLATFORMS, type Platform } from '../../core/model.ts';
import type { Shared } from './shared.ts';

/** Rows that processes keep in memory: markets by reference, names of traders by wallet. */
type Kind = 'markets' | 'traders';

/** Rows in memory, by platform and id. */
export interface Kept {
  forget(platform: Platform, ids: readonly string[]): void;
  forgetAll(): void;
}

/** A connection that missed messages shows it for half a second. */
const LISTEN_MS = 250;
/** Ids of one message. */
const MESSAGE_IDS = 1000;

const channelOf = (kind: Kind): string => `stored_${kind}`;

/** Announces to every process that the rows of these ids were stored with other values. */
export function announceStored(
  shared: Pick<Shared, 'publish'>,
  kind: Kind,
  platform: Platform,
  ids: readonly string[],
): void {
  for (let i = 0; i < ids.length; i += MESSAGE_IDS) {
    void shared.publish(channelOf(kind), [platform, ...ids.slice(i, i + MESSAGE_IDS)].join('\n'));
  }
}

/** Calls back when any process has stored markets of a platform with other facts or another status. */
export const followMarkets = (
  shared: Pick<Shared, 'subscribe'>,
  onStored: (platform: Platform, refs: readonly string[]) => void,
): Promise<void> => follow(shared, 'markets', onStored);

const follow = (
  shared: Pick<Shared, 'subscribe'>,
  kind: Kind,
  onStored: (platform: Platform, ids: readonly string[]) => void,
): Promise<void> =>
  shared.subscribe(channelOf(kind), (message) => {
    const [name, ...ids] = message.split('\n');
    const platform = PLATFORMS.find((one) => one === name);
    if (platform) onStored(platform, ids);
  });

/**
 * Drops rows from this process's memory when any process has stored them again, and all of them while messages may be missed. Returns how to
 * stop it.
 */
export async function followStored(
  shared: Pick<Shared, 'subscribe' | 'healthy'>,
  kind: Kind,
  kept: Kept,
  clock: Clock,
): Promise<() => void> {
  await follow(shared, kind, (platform, ids) => kept.forget(platform, ids));
  return clock.every(LISTEN_MS, () => {
    if (!shared.healthy()) kept.forgetAll();
  });
}
