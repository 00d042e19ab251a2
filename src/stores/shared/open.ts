import type { Clock } from '../../core/time.ts';
import type { Shared } from './shared.ts';
import type { Log } from '../../core/log.ts';
import type { Config } from '../../core/config.ts';
import { createLocalShared } from './local.ts';
import { connectShared } from './redis.ts';

/** Opens the shared state; throws ConfigError if REDIS_URL is set and Redis does not answer. */
export async function openShared(
  config: Pick<Config, 'REDIS_URL'>,
  log: Log,
  { prefix = 'forecastle:', clock }: { prefix?: string; clock: Clock },
): Promise<Shared> {
  if (!config.REDIS_URL) return createLocalShared(log, clock);
  return connectShared(config.REDIS_URL, log, prefix, clock);
}
