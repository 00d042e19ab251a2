import { useEffect, useState } from 'preact/hooks';
import type { Market } from '../parts/answers.ts';
import { get } from '../parts/api.ts';
import { refreshFails } from '../parts/connection.ts';
import { BESIDE_STREAM_MS, POLL_MS, useFrame, useStream } from '../parts/live.ts';
import type { StreamEvents } from '../parts/socket.ts';
import { byPlatform } from '../parts/url.ts';

/** What has changed since a market was listed. */
export type Fresh = Pick<Market, 'current_prices'> & Partial<Market>;

const SETTLE_MS = 600;

interface Known {
  rows: Map<string, Fresh>;
  /** The prices that the stream brought last, by market. */
  streamed: Map<string, Pick<StreamEvents['quote'], 'prices' | 'received_at'>>;
  /** When its rows were loaded or last polled; 0 if the list has been left since, so that it is polled at once. */
  polledAt: number;
}
/** Kept with the rows of each list: a new list starts with none, and one that is come back to continues. */
const knownOf = new WeakMap<readonly Market[], Known>();

function knownWith(rows: readonly Market[]): Known {
  const known: Known = knownOf.get(rows) ?? { rows: new Map(), streamed: new Map(), polledAt: Date.now() };
  knownOf.set(rows, known);
  return known;
}

/** The newest state of the `ids` in view: prices from the stream, the rest by polling; without a stream, all by polling. */
export function useFresh(rows: readonly Market[], ids: readonly string[]): ReadonlyMap<string, Fresh> {
  const known = knownWith(rows);
  const redraw = useFrame();
  const inView = ids.join(',');
  const watched = useSettled(inView);
  const polled = watched === inView ? watched : '';
  const live = useStream(watched === '' ? null : { channels: ['quotes'], market_ids: watched }, {
    quote: ({ platform, market_id, prices, received_at }) => {
      const id = `${platform}:${market_id}`;
      known.streamed.set(id, { prices, received_at });
      known.rows.set(id, { ...known.rows.get(id), current_prices: prices });
      redraw();
    },
  });
  useEffect(() => {
    if (polled === '') return;
    const ending = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      let failed = false;
      for (const [provider, own] of byPlatform(polled.split(','))) {
        const params = { provider, market_ids: own.join(','), limit: own.length };
        const answer = await get('/v1/api/markets', params, ending.signal).catch(() => null);
        failed ||= answer === null;
        for (const market of answer?.markets ?? []) {
          const streamed = live ? known.streamed.get(market.id) : undefined;
          const isPolledNewer = streamed === undefined || market.last_synced_at > streamed.received_at;
          known.rows.set(market.id, isPolledNewer ? market : { ...market, current_prices: streamed.prices });
        }
      }
      if (ending.signal.aborted) return;
      refreshFails(ending, failed);
      redraw();
    };
    // The next poll waits for this one, so that a slow service is not asked twice at once.
    const poll = (): void => {
      timer = setTimeout(
        async () => {
          if (!document.hidden) await ask();
          if (ending.signal.aborted) return;
          known.polledAt = Date.now();
          poll();
        },
        Math.max(0, known.polledAt + (live ? BESIDE_STREAM_MS : POLL_MS) - Date.now()),
      );
    };
    poll();
    return () => {
      ending.abort();
      clearTimeout(timer);
      refreshFails(ending, false);
    };
  }, [live, polled, rows]);
  useEffect(() => () => void (known.polledAt = 0), [rows]);
  return known.rows;
}

/** Scrolling passes many rows: only those where it stops are requested. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
