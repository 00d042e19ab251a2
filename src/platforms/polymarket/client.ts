import type { PlatformReply } from '../http/request.ts';
import type { polymarketLimits } from './limits.ts';
import { type AdapterDeps, type ReadContext, requestOf } from '../contract.ts';
import { createFreshReads } from './fresh-reads.ts';
import type { PolymarketUrl } from './manifest.ts';

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** A hundred events include all their markets: the largest have hundreds, of some 3.5 kB each. */
const LARGE = { maxBytes: 96 * 1024 * 1024, timeoutMs: 30_000 };

/** A limit group of Polymarket without the platform's name; the part before the slash is the host. */
type Group = keyof typeof polymarketLimits extends `polymarket:${infer Rest}` ? Rest : never;

/** A reply, and its age when it was received. */
interface FreshReply extends PlatformReply {
  ageMs: number;
}

/** Polymarket's three hosts, for calls without effect: GETs, and a POST that only reads. */
export interface PolymarketClient {
  get(group: Group, path: string, query: Query, context: ReadContext): Promise<PlatformReply>;
  /** A GET that bypasses the CDN. A page that is cached all the same is counted, requested once more, and then used with its age. */
  getFresh(group: Group, path: string, query: Query, context: ReadContext): Promise<FreshReply>;
  post(group: Group, path: string, body: unknown, context: ReadContext): Promise<PlatformReply>;
}

export function createPolymarketClient({
  http,
  settings,
  onStalePage,
}: Pick<AdapterDeps<PolymarketUrl>, 'http' | 'settings' | 'onStalePage'>): PolymarketClient {
  const fresh = createFreshReads();
  const base = (group: Group): string => {
    if (group.startsWith('gamma/')) return settings.POLYMARKET_GAMMA_URL;
    return group.startsWith('clob/') ? settings.POLYMARKET_CLOB_URL : settings.POLYMARKET_DATA_URL;
  };
  const get: PolymarketClient['get'] = (group, path, query, context) =>
    http.send({
      ...common(group, context),
      method: 'GET',
      url: `${base(group)}${path}${queryText(query)}`,
      ...(path === '/events/keyset' ? LARGE : {}),
    });
  const getOnce = async (...[group, path, query, context]: Parameters<PolymarketClient['getFresh']>) => {
    const reply = await get(group, path, { ...query, _: fresh.parameter() }, context);
    const ageMs = fresh.ageMs(reply);
    if (ageMs > 0) onStalePage?.('polymarket', path);
    return { ...reply, ageMs };
  };
  return {
    get,
    async getFresh(...request) {
      const reply = await getOnce(...request);
      return reply.ageMs === 0 ? reply : getOnce(...request);
    },
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
  ...requestOf(context),
});

/** A list becomes a repeated parameter (`id=1&id=2`); undefined values are omitted. */
export function queryText(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) params.append(name, String(one));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
