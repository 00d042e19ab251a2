import { useEffect, useReducer } from 'preact/hooks';
import type { Market, Trade } from './answers.ts';
import { get } from './api.ts';
import { byPlatform } from './url.ts';

/** What does not change of a market: the names of its outcomes, and its own. */
type Known = Pick<Market, 'metadata' | 'outcomes'>;

/** By unified id; null: it is not stored. */
const known = new Map<string, Known | null>();
const MOST_KNOWN = 1000;
/** Ids that are this long are for machines: of one without a name the end is shown. */
const LONG = 16;

export const shortId = (id: string): string => (id.length > LONG ? `…${id.slice(-6)}` : id);

/** Markets whose answer is on its way, or failed a moment ago. */
const asked = new Set<string>();
const RETRY_MS = 5000;

async function learn(provider: string, ids: readonly string[]): Promise<void> {
  const own = ids.map((id) => `${provider}:${id}`);
  for (const one of own) asked.add(one);
  try {
    const { markets } = await get('/v1/api/markets', { provider, market_ids: ids.join(','), limit: ids.length });
    if (known.size > MOST_KNOWN) known.clear();
    for (const one of own) known.set(one, null);
    for (const { id, metadata, outcomes } of markets) known.set(id, { metadata, outcomes });
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  for (const one of own) asked.delete(one);
}

/** Markets by their unified ids, for lists whose answer has less of them; undefined until they are there. */
export function useKnownMarkets(ids: readonly string[]): (id: string) => Known | undefined {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const wanted = [...new Set(ids)].filter((id) => !known.has(id) && !asked.has(id)).join(',');
  useEffect(() => {
    if (wanted === '') return;
    for (const [provider, own] of byPlatform(wanted.split(','))) void learn(provider, own).then(() => redraw(0));
    // What is on its way is wanted no more: should it fail, it is another change.
    redraw(0);
  }, [wanted]);
  return (id) => known.get(id) ?? undefined;
}

/** What the outcome of a trade is called; its id while its market is not known. */
export const outcomeName = ({ outcome }: Trade, market: Known | undefined): string =>
  market?.outcomes.find(({ id }) => id === outcome)?.name ?? shortId(outcome);
