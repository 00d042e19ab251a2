import type { Redis } from 'ioredis';
import type { Clock, Stop } from '../../core/time.ts';

/** How long noneMissed() stays false after a reconnect, because callers poll it at intervals. */
const MISSED_VISIBLE_MS = 500;
/** Wait before the next connection when Redis refuses a subscription or does not answer it. */
const AGAIN_MS = 1000;

interface RedisChannels {
  /** false while messages of a subscribed channel may have been missed. */
  noneMissed(): boolean;
  subscribe(channel: string): Promise<void>;
  close(): void;
}

/** Subscriptions on a connection of their own, which is opened with the first. Messages sent while it is down are lost. */
export function openChannels(
  subscriber: Redis,
  prefix: string,
  clock: Clock,
  logFailure: (error: Error) => void,
  deliver: (channel: string, text: string) => void,
): RedisChannels {
  const channels = new Set<string>();
  let listening = false;
  let stopWait: Stop | undefined;

  const lose = (): void => {
    listening = false;
    stopWait?.();
  };
  /** Whether all channels are subscribed to. If not, the next connection subscribes to all. */
  const subscribeAll = async (): Promise<boolean> => {
    if (subscriber.status !== 'ready') return false;
    try {
      await subscriber.subscribe(...[...channels].map((channel) => prefix + channel));
      return true;
    } catch (error) {
      lose();
      if (subscriber.status !== 'ready') return false;
      logFailure(error as Error);
      stopWait = clock.timeout(AGAIN_MS, () => subscriber.disconnect(true));
      return false;
    }
  };
  // ioredis reconnects by itself.
  subscriber.on('error', ignore);
  subscriber.on('close', lose);
  subscriber.on('ready', async () => {
    if (await subscribeAll()) stopWait = clock.timeout(MISSED_VISIBLE_MS, () => (listening = true));
  });
  subscriber.on('message', (channel, text) => deliver(channel.slice(prefix.length), text));

  return {
    noneMissed: () => listening || channels.size === 0,
    async subscribe(channel) {
      if (channels.has(channel)) return;
      const isFirst = channels.size === 0;
      channels.add(channel);
      if (subscriber.status === 'wait') await subscriber.connect().catch(ignore);
      // With later channels it already listens, or does so after a wait.
      if ((await subscribeAll()) && isFirst) listening = true;
    },
    close: () => subscriber.disconnect(),
  };
}

const ignore = (): void => {};
