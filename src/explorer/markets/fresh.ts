import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Market } from '../parts/answers.ts';
import { get } from '../parts/api.ts';
import { refreshFails } from '../parts/connection.ts';
import { BESIDE_STREAM_MS, POLL_MS, useStream } from '../parts/live.ts';
import { byPlatform } from '../parts/url.ts';

/** What has changed since a market was listed. */
export type Fresh = Pick<Market, 'current_prices'> & Partial<Market>;

const SETTLE_MS = 600;

/** The newest state of the markets in view, by id: prices from the stream, the rest by polling; without a stream, all by polling. */
export function useFresh(ids: readonly string[]): ReadonlyMap<string, Fresh> {
  const known = useRef(new Map<string, Fresh>());
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const waiting = useRef(false);
  const watched = useSettled(ids.join(','));
  const later = (): void => {
    if (waiting.current) return;
    waiting.current = true;
    requestAnimationFrame(() => {
      waiting.current = false;
      redraw(0);
    });
  };
  const live = useStream(watched === '' ? null : { channels: ['quotes'], market_ids: watched }, {
    quote: ({ platform, market_id, prices }) => {
      const id = `${platform}:${market_id}`;
      known.current.set(id, { ...known.current.get(id), current_prices: prices });
      later();
    },
  });
  useEffect(() => {
    if (watched === '') return;
    const ending = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      let failed = false;
      for (const [provider, own] of byPlatform(watched.split(','))) {
        const params = { provider, market_ids: own.join(','), limit: own.length };
        const answer = await get('/v1/api/markets', params, ending.signal).catch(() => null);
        failed ||= answer === null;
        for (const market of answer?.markets ?? []) {
          const streamed = live ? known.current.get(market.id)?.current_prices : undefined;
          known.current.set(market.id, streamed ? { ...market, current_prices: streamed } : market);
        }
      }
      if (ending.signal.aborted) return;
      refreshFails(ending, failed);
      later();
    };
    // The next poll waits for this one, so that a slow service is not asked twice at once.
    const poll = (): void => {
      timer = setTimeout(
        async () => {
          if (!document.hidden) await ask();
          if (!ending.signal.aborted) poll();
        },
        live ? BESIDE_STREAM_MS : POLL_MS,
      );
    };
    poll();
    return () => {
      ending.abort();
      clearTimeout(timer);
      refreshFails(ending, false);
    };
  }, [live, watched]);
  return known.current;
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
