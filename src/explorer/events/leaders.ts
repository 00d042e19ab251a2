import { useMemo, useRef } from 'preact/hooks';
import type { Event, Market } from '../parts/answers.ts';
import { useRepeated } from '../parts/api.ts';
import { eventName, namesWithin } from '../parts/names.ts';
import { END_TEXTS } from '../parts/prefs/times.ts';
import { quoted } from '../parts/panel.tsx';
import { LISTED } from '../parts/statements.ts';
import { marketsOf } from '../markets/market-list.ts';

/** Leading markets shown of each event. */
export const LEADERS = 3;
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

/** By unified event id. The list names the markets, whose prices are read again and again. */
export function useLeaders(events: readonly Event[]): ReadonlyMap<string, Leaders> {
  const named = events.map(leadingIds);
  const ids = named.flat();
  const asked = useRepeated(
    ids.length === 0 ? null : ids.join(','),
    async (signal) => {
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
    const leaders = events.map(({ id }, n): [string, Leaders] => {
      const markets = (named[n] ?? []).flatMap((one) => known.get(one) ?? []);
      return [id, { markets, names: namesWithin(markets, END_TEXTS) }];
    });
    return new Map(leaders);
  }, [known, events.length]);
}

const leadingIds = ({ platform, leading_markets: ids = [] }: Event): string[] => ids.map((id) => `${platform}:${id}`);

/** The name of an event in a list. */
export const listedName = ({ title, event_id: id }: Event): string => eventName(title) || id;
