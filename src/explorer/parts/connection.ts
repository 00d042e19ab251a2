import { useEffect, useState } from 'preact/hooks';

/** How this page learns what is new: from the stream, by asking again, or not at all while the service does not answer. */
export type Connection = 'live' | 'polling' | 'offline';

const listeners = new Set<() => void>();
let streams = 0;
let answering = true;

const connection = (): Connection => (answering ? (streams > 0 ? 'live' : 'polling') : 'offline');
const update = (change: () => void): void => {
  const before = connection();
  change();
  if (connection() !== before) for (const listener of listeners) listener();
};

export const streamOpened = (): void => update(() => (streams += 1));
export const streamClosed = (): void => update(() => (streams -= 1));
export const serviceAnswers = (now: boolean): void => update(() => (answering = now));

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
