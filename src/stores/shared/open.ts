import type { Log, Shared } from './shared.ts';
import type { Config } from '../../core/config.ts';
import { createLocalShared } from './local.ts';

/** Opens what the processes share; throws ConfigError when REDIS_URL names a Redis that does not answer. */
export async function openShared(config: Pick<Config, 'REDIS_URL'>, log: Log, prefix = 'forecastle:'): Promise<Shared> {
  if (!config.REDIS_URL) return createLocalShared(log);
  const { connectShared } = await import('./redis.ts');
  return connectShared(config.REDIS_URL, log, prefix);
}
