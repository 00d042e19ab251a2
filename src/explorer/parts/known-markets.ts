import { useEffect, useReducer } from 'preact/hooks';
import type { Trade } from './answers.ts';
import { get } from './api.ts';
import { byPlatform } from './url.ts';

/** Names of outcomes by their id, of each market by its unified id. They do not change. */
const known = new Map<string, ReadonlyMap<string, string>>();
const MOST_KNOWN = 1000;
/** Ids that are this long are for machines: of one without a name the end is shown. */
const LONG = 16;

const marketOf = ({ platform, market_id: id }: Trade): string => `${platform}:${id}`;
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
    for (const one of own) known.set(one, new Map());
    for (const { id, outcomes } of markets) known.set(id, new Map(outcomes.map((one) => [one.id, one.name])));
  } catch {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  for (const one of own) asked.delete(one);
}

/** What the outcome of a trade is called; its id while the market is not stored, or is still asked for. */
export function useOutcomeNames(trades: readonly Trade[]): (trade: Trade) => string {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const wanted = [...new Set(trades.map(marketOf))].filter((id) => !known.has(id) && !asked.has(id)).join(',');
  useEffect(() => {
    if (wanted === '') return;
    for (const [provider, ids] of byPlatform(wanted.split(','))) void learn(provider, ids).then(() => redraw(0));
    // What is on its way is wanted no more: should it fail, it is another change.
    redraw(0);
  }, [wanted]);
  return (trade) => known.get(marketOf(trade))?.get(trade.outcome) ?? shortId(trade.outcome);
}
