import { useEffect, useRef, useState } from 'preact/hooks';
import { streamClosed, streamOpened, streamWanted } from './connection.ts';
import { followStream, type StreamAsk, type StreamEvents } from './socket.ts';

/** Asked for again where the stream does not answer. */
export const POLL_MS = 5000;
/** Asked for again beside the stream: what it brings, and what it does not. */
export const CHECK_MS = 60_000;
export const BESIDE_STREAM_MS = 15_000;

type Handlers = { [Name in keyof StreamEvents]?: (data: StreamEvents[Name]) => void };

/**
 * Listens to the stream while `ask` is not null and the page is in front. False while the stream is cut, refused or unknown to this
 * service: the caller then asks again every POLL_MS.
 */
export function useStream(ask: StreamAsk | null, on: Handlers): boolean {
  const [live, setLive] = useState(false);
  const handlers = useRef(on);
  handlers.current = on;
  const key = ask === null ? null : JSON.stringify(ask);
  useEffect(() => {
    if (ask === null) return;
    let open = false;
    const wantedNoMore = streamWanted();
    const leave = followStream(
      ask,
      (isOpen) => {
        if (open === isOpen) return;
        open = isOpen;
        if (isOpen) streamOpened();
        else streamClosed();
        setLive(isOpen);
      },
      ({ event, data }) => (handlers.current[event] as ((data: unknown) => void) | undefined)?.(data),
    );
    return () => {
      leave();
      wantedNoMore();
    };
  }, [key]);
  return live;
}
