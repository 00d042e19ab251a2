import { useEffect, useState } from 'preact/hooks';

/**
 * How this page gets new data. `stale`: the service responds, but a part of the page failed to refresh; `connecting`: a stream is being
 * opened; `polling`: the page polls instead; `idle`: the page needs no stream.
 */
export type Connection = 'live' | 'connecting' | 'polling' | 'idle' | 'stale' | 'offline';

/** A page whose stream is not open after this time counts as polling. */
const PATIENCE_MS = 4000;

const listeners = new Set<() => void>();
let streams = 0;
let wanted = 0;
/** When the number of wanted streams last rose from 0. */
let wantedSince = 0;
let answering = true;
const failing = new Set<object>();

function connection(): Connection {
  if (!answering) return 'offline';
  if (failing.size > 0) return 'stale';
  if (streams > 0) return 'live';
  if (wanted === 0) return 'idle';
  return Date.now() - wantedSince < PATIENCE_MS ? 'connecting' : 'polling';
}
const announce = (): void => listeners.forEach((listener) => listener());
const update = (change: () => void): void => {
  const before = connection();
  change();
  if (connection() !== before) announce();
};

export const streamOpened = (): void => update(() => (streams += 1));
export const streamClosed = (): void => update(() => (streams -= 1));
export const serviceAnswers = (now: boolean): void => update(() => (answering = now));
/** Records whether `part` shows old data because its last refresh failed. */
export const refreshFails = (part: object, now: boolean): void =>
  update(() => (now ? failing.add(part) : failing.delete(part)));

/** Records that a part of the page needs a stream, open or not, until the returned function is called. */
export function streamWanted(): () => void {
  update(() => {
    if (wanted === 0) wantedSince = Date.now();
    wanted += 1;
  });
  const timer = setTimeout(announce, PATIENCE_MS + 1);
  return () => {
    clearTimeout(timer);
    update(() => (wanted -= 1));
  };
}

export function useConnection(): Connection {
  const [state, setState] = useState(connection);
  useEffect(() => {
    const hear = (): void => setState(connection());
    listeners.add(hear);
    hear();
    return () => void listeners.delete(hear);
  }, []);
  return state;
}
