import { createHash } from 'node:crypto';

const cacheKeys = new WeakMap<object, string>();

/** Where an answer is cached: the endpoint's name, every parameter that was read, and an id of the path. */
export function cacheKey(name: string, query: object, id = ''): string {
  let digest = cacheKeys.get(query);
  if (digest === undefined) {
    const text = JSON.stringify(query, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    digest = createHash('sha1').update(text).digest('base64url');
    cacheKeys.set(query, digest);
  }
  return `${name}:${digest}:${id}`;
}
