import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { streamClosed, streamOpened, streamWanted } from './connection.ts';
import { followStream, type StreamAsk, type StreamEvents } from './socket.ts';

/** Polling interval without a stream. */
export const POLL_MS = 5000;
/** Polling intervals beside an open stream: of data that it delivers, and of data that it does not. */
export const CHECK_MS = 60_000;
export const BESIDE_STREAM_MS = 15_000;

type Handlers = { [Name in keyof StreamEvents]?: (data: StreamEvents[Name]) => void };

/**
 * Subscribes to the stream while `ask` is not null and the page is visible. Returns false while the stream is disconnected, refused or
 * unknown to this service; the caller then polls every POLL_MS.
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

/** Re-renders at most once per frame, however many events arrive. */
export function useFrame(): () => void {
  const [, draw] = useReducer((n: number) => n + 1, 0);
  const waiting = useRef(0);
  useEffect(() => () => cancelAnimationFrame(waiting.current), []);
  return () => {
    if (waiting.current !== 0) return;
    waiting.current = requestAnimationFrame(() => {
      waiting.current = 0;
      draw(0);
    });
  };
}
