import type { PlatformReply } from '../http.ts';
import type { LimitGroupName } from '../limits.ts';
import type { AdapterDeps, ReadContext } from '../platform.ts';

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** A hundred events bring all their markets: the largest hold hundreds, at some 3.5 kB each. */
const LARGE = { maxBytes: 96 * 1024 * 1024, timeoutMs: 30_000 };

/** A limit group of Polymarket without the platform's name; what stands before the slash names the host. */
type Group = LimitGroupName extends infer Name ? (Name extends `polymarket:${infer Rest}` ? Rest : never) : never;

/** Polymarket's three hosts behind two calls, both without effect: a GET, and a POST that only reads. */
export interface PolymarketClient {
  get(group: Group, path: string, query: Query, context: ReadContext): Promise<PlatformReply>;
  post(group: Group, path: string, body: unknown, context: ReadContext): Promise<PlatformReply>;
}

export function createPolymarketClient({ http, urls }: Pick<AdapterDeps, 'http' | 'urls'>): PolymarketClient {
  const base = (group: Group): string => {
    if (group.startsWith('gamma/')) return urls.polymarketGamma;
    return group.startsWith('clob/') ? urls.polymarketClob : urls.polymarketData;
  };
  return {
    get: (group, path, query, context) =>
      http.send({
        ...common(group, context),
        method: 'GET',
        url: `${base(group)}${path}${queryText(query)}`,
        ...(path === '/events/keyset' ? LARGE : {}),
      }),
    post: (group, path, body, context) =>
      http.send({
        ...common(group, context),
        method: 'POST',
        url: `${base(group)}${path}`,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
  };
}

const common = (group: Group, context: ReadContext) => ({
  platform: 'polymarket' as const,
  group: `polymarket:${group}` as const,
  priority: context.priority,
  signal: context.signal,
  retry: true,
});

/** A list becomes a repeated parameter (`id=1&id=2`); undefined is left out. */
export function queryText(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) params.append(name, String(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
