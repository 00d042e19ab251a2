import { useMemo, useRef } from 'preact/hooks';
import type { Event, Market } from '../parts/answers.ts';
import { useRepeated } from '../parts/api.ts';
import { PAGE } from '../parts/lists/listing.ts';
import { eventName, namesWithin } from '../parts/names.ts';
import { quoted } from '../parts/panel.tsx';
import { LISTED } from '../parts/statements.ts';
import { marketsOf } from '../markets/market-list.ts';
import { runSql } from '../sql/run.ts';

/** Leading markets shown of each event. */
const LEADERS = 3;
const PRICES_MS = 15_000;
/** Limit of market_ids of a call. */
const MOST_IDS = 100;

/** The markets with the highest prices of each event, settled ones included. */
export function leadersSql(events: readonly Event[]): string {
  const ids = events.map(({ platform, event_id: id }) => `(${quoted(platform)}, ${quoted(id)})`);
  return `SELECT platform, event_id, id, title, price
FROM v_markets
WHERE (platform, event_id) IN (${ids.join(', ')}) AND ${LISTED}
ORDER BY price DESC NULLS LAST, id
LIMIT ${LEADERS} BY platform, event_id`;
}

/** An event's leading markets, highest price first, and their names within the event. */
export interface Leaders {
  markets: readonly Market[];
  names: ReadonlyMap<string, string>;
}

/** By unified event id. The API sorts by no price: SQL finds the ids for each page of events, the API returns the markets. */
export function useLeaders(events: readonly Event[]): ReadonlyMap<string, Leaders> {
  const pages = Array.from({ length: Math.ceil(events.length / PAGE) }, (_, n) =>
    events.slice(n * PAGE, (n + 1) * PAGE),
  );
  const found = useRef(new Map<string, string[]>());
  const asked = useRepeated(
    events.length === 0 ? null : events.map(({ id }) => id).join(','),
    async (signal) => {
      for (const page of pages) {
        const missing = page.filter(({ id }) => !found.current.has(id));
        if (missing.length === 0) continue;
        const { rows } = await runSql(leadersSql(missing), signal);
        for (const { id } of missing) found.current.set(id, []);
        for (const [platform, event, id] of rows) found.current.get(`${platform}:${event}`)?.push(String(id));
      }
      const ids = events.flatMap(({ id }) => found.current.get(id) ?? []);
      const markets: Market[] = [];
      for (let at = 0; at < ids.length; at += MOST_IDS)
        markets.push(...(await marketsOf(ids.slice(at, at + MOST_IDS), signal)));
      return new Map(markets.map((market) => [market.id, market]));
    },
    PRICES_MS,
  );
  const last = useRef<ReadonlyMap<string, Market>>(new Map());
  last.current = asked.data ?? last.current;
  const known = last.current;
  return useMemo(() => {
    const leaders = events.map(({ id }): [string, Leaders] => {
      const markets = (found.current.get(id) ?? []).flatMap((one) => known.get(one) ?? []);
      return [id, { markets, names: namesWithin(markets) }];
    });
    return new Map(leaders.filter(([id]) => found.current.has(id)));
  }, [known, events.length]);
}
/** The name of an event in a list. */
export const listedName = ({ title, event_id: id }: Event): string => eventName(title) || id;
