import { useEffect, useReducer } from 'preact/hooks';
import type { Market } from './answers.ts';
import { get } from './api.ts';
import { byPlatform } from './url.ts';

/** The parts of a market that rarely change: its name, the names of its outcomes and when trading ends. */
export type Known = Pick<Market, 'title' | 'metadata' | 'outcomes' | 'trading_end_at'>;

/** By unified id; null if no such market is stored. A Map, because lru-cache would be sent to every browser. */
const known = new Map<string, Known | null>();
const MOST_KNOWN = 1000;

/** Markets whose request is pending or failed within RETRY_MS. */
const asked = new Set<string>();
const RETRY_MS = 5000;

async function learn(provider: string, ids: readonly string[]): Promise<void> {
  const own = ids.map((id) => `${provider}:${id}`);
  for (const one of own) asked.add(one);
  try {
    const { markets } = await get('/v1/api/markets', { provider, market_ids: ids.join(','), limit: ids.length });
    for (const one of own) known.set(one, null);
    for (const { id, title, metadata, outcomes, trading_end_at } of markets)
      known.set(id, { title, metadata, outcomes, trading_end_at });
    for (const id of known.keys()) if (known.size > MOST_KNOWN) known.delete(id);
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  for (const one of own) asked.delete(one);
}

/** Looks up markets by unified id, for lists whose answer lacks these fields; undefined until they are loaded. */
export function useKnownMarkets(ids: readonly string[]): (id: string) => Known | undefined {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const wanted = [...new Set(ids)].filter((id) => !known.has(id) && !asked.has(id)).join(',');
  useEffect(() => {
    if (wanted === '') return;
    for (const [provider, own] of byPlatform(wanted.split(','))) void learn(provider, own).then(() => redraw(0));
    // Removes pending ids from `wanted`. If the request fails they return, and that change runs this effect again.
    redraw(0);
  }, [wanted]);
  return (id) => known.get(id) ?? undefined;
}
