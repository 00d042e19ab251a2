/** A wrong setting stops the start; the message names the variable, the rule and the value, unless it may be secret. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The store of DATA_DIR is in use by a running service. */
export class StoreInUse extends ConfigError {}

/** The error for a store that cannot be used; it omits any password in the URL. */
export function noStore(
  name: 'CLICKHOUSE_URL' | 'DATABASE_URL' | 'REDIS_URL',
  what: string,
  at: string,
  why: Error,
): ConfigError {
  const { host, searchParams } = new URL(at);
  // A Unix socket's directory is a query parameter.
  const place = host || searchParams.get('host');
  const reason = why.message || ((why as NodeJS.ErrnoException).code ?? '');
  return new ConfigError(`${name}: no ${what} at ${place}: ${reason.split('\n', 1)[0]}`);
}

/** The ConfigError for a port or host that cannot be listened on; other failures are returned unchanged. */
export function listenError(name: 'PORT' | 'METRICS_PORT', port: number, host: string, why: unknown): unknown {
  const { code = '', message } = why as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE' || code === 'EACCES')
    return new ConfigError(`${name}: must be free, received ${port}, which cannot be listened on at ${host} (${code})`);
  if (!/^(EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|EINVAL)$/.test(code)) return why;
  return new ConfigError(`HOST: must be an address of this machine, received ${JSON.stringify(host)}: ${message}`);
}
