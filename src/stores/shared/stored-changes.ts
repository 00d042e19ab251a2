import { PLATFORMS, type Platform } from '../core/model.ts';
import type { Shared } from '../stores/shared/shared.ts';
import type { StoredMarkets } from './directory.ts';

const CHANNEL = 'markets';
/** A connection that missed messages shows it for half a second. */
const LISTEN_MS = 250;
/** Markets of one message. */
const MESSAGE_REFS = 1000;

export interface Writers {
  /** Tells every process that these markets were stored with other facts. */
  changed(platform: Platform, refs: readonly string[]): void;
  stop(): void;
}

/** Drops look-ups of this process when any process has stored their markets again, and all of them when messages may be missed. */
export async function followWriters(
  shared: Pick<Shared, 'publish' | 'subscribe' | 'healthy'>,
  markets: Pick<StoredMarkets, 'forget' | 'forgetAll'>,
): Promise<Writers> {
  await shared.subscribe(CHANNEL, (message) => {
    const [name, ...refs] = message.split('\n');
    const platform = PLATFORMS.find((one) => one === name);
    if (platform) markets.forget(platform, refs);
  });
  const timer = setInterval(() => {
    if (!shared.healthy()) markets.forgetAll();
  }, LISTEN_MS).unref();
  return {
    changed(platform, refs) {
      for (let i = 0; i < refs.length; i += MESSAGE_REFS) {
        void shared.publish(CHANNEL, [platform, ...refs.slice(i, i + MESSAGE_REFS)].join('\n'));
      }
    },
    stop: () => clearInterval(timer),
  };
}
