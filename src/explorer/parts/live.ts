import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, type Params } from './api.ts';
import { streamClosed, streamOpened } from './connection.ts';

/** Asked for again where the stream does not answer. */
export const POLL_MS = 5000;
/** A stream that was refused is tried again after this. */
const RETRY_MS = 30_000;

export interface LiveQuote {
  platform: string;
  market_id: string;
  prices: Record<string, { price: number | null; bid: number | null; ask: number | null }>;
}
export interface BookChange {
  platform: string;
  market_id: string;
  sequence: number;
  outcome: string;
  changes: { side: 'bid' | 'ask'; price: number; size: number }[];
}
/** How fresh each platform's data is, every 15 s and on every change. */
export interface LiveState {
  platforms: Record<string, { fresh_to: string | null }>;
}
export interface LiveEvents {
  trade: (data: never) => void;
  quote: (data: LiveQuote) => void;
  market: (data: { platform: string; market_id: string; status: string }) => void;
  book: (data: never) => void;
  book_change: (data: BookChange) => void;
  gap: (data: { reason: string }) => void;
  state: (data: LiveState) => void;
}

/**
 * Listens to GET /v1/api/stream while `params` is not null. False while the stream is cut, refused or unknown to this service: the
 * caller then asks again every POLL_MS. A cut stream is resumed by the browser from the last event it saw.
 */
export function useStream(params: Params | null, on: Partial<LiveEvents>): boolean {
  const [live, setLive] = useState(false);
  const handlers = useRef(on);
  handlers.current = on;
  const address = params === null ? null : addressOf('/v1/api/stream', params);
  useEffect(() => {
    if (address === null) return;
    let open = false;
    let source: EventSource;
    let timer = 0;
    const now = (isOpen: boolean): void => {
      if (open === isOpen) return;
      open = isOpen;
      if (isOpen) streamOpened();
      else streamClosed();
      setLive(isOpen);
    };
    const connect = (): void => {
      source = new EventSource(address);
      source.addEventListener('open', () => now(true));
      source.addEventListener('error', () => {
        now(false);
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(connect, RETRY_MS);
      });
      for (const name of ['trade', 'quote', 'market', 'book', 'book_change', 'gap', 'state'] as const) {
        source.addEventListener(name, (event) => {
          const handle = handlers.current[name] as ((data: unknown) => void) | undefined;
          handle?.(JSON.parse(event.data as string));
        });
      }
    };
    connect();
    return () => {
      clearTimeout(timer);
      source.close();
      now(false);
    };
  }, [address]);
  return live;
}
