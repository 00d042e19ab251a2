import type { Redis, RedisOptions } from 'ioredis';
import type { Clock } from '../../core/time.ts';
import { noStore } from '../../core/config-error.ts';
import type { Log } from '../../core/log.ts';

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: 5000,
  commandTimeout: 1000,
  // A subscriber may be idle for hours; keepalive stops NATs and firewalls from dropping its connection.
  keepAlive: 30_000,
  // Commands fail at once while disconnected: callers have a local fallback.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => Math.min(3000, 100 * 2 ** Math.min(attempt, 5)),
};

const FAILURE_LOG_INTERVAL_MS = 60_000;

/** Opens the first connection; it must succeed. The error shows the address without user and password. */
export async function openRedis(url: string): Promise<Redis> {
  // A service without Redis does not load the driver: 12 MB.
  const { Redis: Driver } = await import('ioredis');
  const redis = new Driver(url, OPTIONS);
  let reason = '';
  const note = (error: Error & { code?: string }): void => {
    reason = error.message || (error.code ?? '');
  };
  redis.on('error', note);
  try {
    await redis.connect();
    // ioredis only emits an error if the database number does not exist, and then uses database 0. After a ping `reason` has that error.
    await redis.ping();
    if (reason) throw new Error(reason);
  } catch (error) {
    redis.disconnect();
    throw noStore('REDIS_URL', 'Redis', url, reason ? new Error(reason) : (error as Error));
  } finally {
    redis.off('error', note);
  }
  return redis;
}

/** Runs a command; undefined while Redis is unavailable or refuses it. */
export type Ask = <T>(command: () => Promise<T>) => Promise<T | undefined>;

interface RedisCommands {
  available(): boolean;
  ask: Ask;
  close(): void;
}

/** Commands on a connection that never throw. Logs `onLoss` when Redis becomes unavailable, and `onReturn` when it returns. */
export function commandsOn(
  redis: Redis,
  log: Log,
  clock: Clock,
  { onLoss, onReturn }: { onLoss: string; onReturn: string },
): RedisCommands {
  let closed = false;
  let lost = false;
  let lastError: Error | undefined;
  const logRefusal = failureLog(log, clock, 'Redis refused a command');

  const markLost = (error?: Error): void => {
    if (closed || lost) return;
    lost = true;
    log.warn({ reason: error?.message }, onLoss);
  };
  redis.on('error', (error) => (lastError = error));
  redis.on('close', () => markLost(lastError));
  redis.on('ready', () => {
    if (lost) log.info(onReturn);
    lost = false;
  });
  const available = (): boolean => !lost && redis.status === 'ready';

  return {
    available,
    async ask(command) {
      if (!available()) return undefined;
      try {
        return await command();
      } catch (error) {
        if ((error as Error).name === 'ReplyError') {
          logRefusal(error as Error);
        } else {
          // Reconnect when a command times out, so that later calls do not wait on a dead connection.
          if (!closed && !lost) redis.disconnect(true);
          markLost(error as Error);
        }
        return undefined;
      }
    },
    close() {
      closed = true;
      redis.disconnect();
    },
  };
}

/** Failures that repeat, as of a Redis out of memory: logged once a minute. */
export function failureLog(log: Log, clock: Clock, text: string): (error: Error) => void {
  let loggedAt = -Infinity;
  return (error) => {
    if (clock.elapsed() - loggedAt < FAILURE_LOG_INTERVAL_MS) return;
    loggedAt = clock.elapsed();
    // The message only: the error object holds the command, with cached values and passwords.
    log.warn({ reason: error.message }, text);
  };
}
