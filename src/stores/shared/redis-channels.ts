import type { Redis } from 'ioredis';
import type { Clock, Stop } from '../../core/time.ts';

/** How long noneMissed() stays false after a reconnect, because callers poll it at intervals. */
const MISSED_VISIBLE_MS = 500;

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
  deliver: (channel: string, text: string) => void,
): RedisChannels {
  const channels = new Set<string>();
  let listening = false;
  let stopReport: Stop | undefined;

  const subscribeTo = async (channel: string): Promise<void> => {
    if (subscriber.status === 'ready') await subscriber.subscribe(prefix + channel);
  };
  // ioredis reconnects by itself.
  subscriber.on('error', ignore);
  subscriber.on('close', () => {
    listening = false;
    stopReport?.();
  });
  subscriber.on('ready', () => {
    Promise.all([...channels].map(subscribeTo)).then(() => {
      stopReport = clock.timeout(MISSED_VISIBLE_MS, () => (listening = true));
    }, ignore);
  });
  subscriber.on('message', (channel, text) => deliver(channel.slice(prefix.length), text));

  return {
    noneMissed: () => listening || channels.size === 0,
    async subscribe(channel) {
      if (channels.has(channel)) return;
      channels.add(channel);
      if (subscriber.status === 'wait') await subscriber.connect().catch(ignore);
      await subscribeTo(channel).then(() => (listening = subscriber.status === 'ready'), ignore);
    },
    close: () => subscriber.disconnect(),
  };
}

const ignore = (): void => {};
