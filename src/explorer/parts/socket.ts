import type { z } from 'zod';
import type { SOCKET_MESSAGES, STREAM_EVENTS } from '../../schemas/stream-events.ts';

type Subscribe = z.output<typeof SOCKET_MESSAGES.subscribe>;
/** What to subscribe to: one subscription per channel, all with the same filters. */
export interface StreamAsk extends Omit<Subscribe, 'op' | 'id' | 'channel' | 'since'> {
  channels: readonly Subscribe['channel'][];
}

/** Data of stream events, by event name. */
export type StreamEvents = { [Name in keyof typeof STREAM_EVENTS]: z.output<(typeof STREAM_EVENTS)[Name]> };
type StreamEvent = {
  [Name in keyof StreamEvents]: { event: Name; data: StreamEvents[Name] };
}[keyof StreamEvents];

type Message =
  | { op: 'subscribed'; id: string; sid: number }
  | { op: 'unsubscribed' }
  | { op: 'error' }
  | (StreamEvent & { op?: undefined; sid?: number; cursor?: string });

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;
/** The service sends a state every 15 s: after a longer silence the connection is dead, which a browser may not notice for hours. */
const DEAD_MS = 40_000;
const CHECK_MS = 5000;
/** After a longer silence nothing is replayed: listeners request the stored data again. */
const RESUME_MS = 60_000;

/**
 * Subscribes on /v1/api/ws while the page is visible. A browser allows six requests to one host, open event streams included, but counts
 * WebSockets separately. `onLive` gets true when every channel is subscribed. After a short disconnect, subscriptions resume after the
 * last event. Returns a function that ends them.
 */
export function followStream(
  { channels, ...filters }: StreamAsk,
  onLive: (isLive: boolean) => void,
  onEvent: (event: StreamEvent) => void,
): () => void {
  const cursors = new Map<string, string>();
  let socket: WebSocket | null = null;
  let timer = 0;
  let retryMs = FIRST_RETRY_MS;
  let heardAt = Date.now();
  /** When the socket was created, opened or last heard. */
  let aliveAt = 0;
  /** Sequence number of the last message of each book, by market id. */
  const sequences = new Map<string, number>();
  /** Whether a message can be applied: a book change only directly after its predecessor. */
  const follows = (message: StreamEvent): boolean => {
    if (message.event !== 'book' && message.event !== 'book_change') return true;
    const { market_id: market, sequence } = message.data;
    if (message.event === 'book_change' && sequences.get(market) !== sequence - 1) return false;
    sequences.set(market, sequence);
    return true;
  };

  const connect = (): void => {
    clearTimeout(timer);
    if (document.hidden) return;
    if (Date.now() - heardAt > RESUME_MS) cursors.clear();
    const own = new WebSocket(`${location.origin.replace('http', 'ws')}/v1/api/ws`);
    const names = new Map<number, string>();
    socket = own;
    aliveAt = Date.now();
    sequences.clear();
    const subscribe = (channel: string): void =>
      own.send(JSON.stringify({ op: 'subscribe', id: channel, channel, ...filters, since: cursors.get(channel) }));
    own.addEventListener('open', () => {
      aliveAt = Date.now();
      channels.forEach(subscribe);
    });
    own.addEventListener('message', ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as Message;
      heardAt = Date.now();
      aliveAt = heardAt;
      if (message.op === 'subscribed') {
        names.set(message.sid, message.id);
        if (names.size < channels.length) return;
        retryMs = FIRST_RETRY_MS;
        onLive(true);
      } else if (message.op === 'unsubscribed') {
        return;
      } else if (message.op === 'error') {
        cursors.clear();
        retryMs = LAST_RETRY_MS;
        own.close();
      } else if (message.event !== 'state' && message.sid !== undefined && !names.has(message.sid)) {
        // From a subscription that was cancelled.
      } else if (!follows(message)) {
        own.send(JSON.stringify({ op: 'unsubscribe', sid: message.sid }));
        names.delete(message.sid ?? 0);
        subscribe('books');
      } else {
        const reached = message.event === 'state' ? message.data.cursors : { [message.sid ?? 0]: message.cursor };
        for (const [sid, cursor] of Object.entries(reached ?? {})) {
          const name = names.get(Number(sid));
          if (name !== undefined && cursor) cursors.set(name, cursor);
        }
        onEvent(message);
      }
    });
    own.addEventListener('close', () => {
      if (socket === own) again();
    });
  };
  const leave = (): void => {
    clearTimeout(timer);
    const old = socket;
    socket = null;
    old?.close();
    onLive(false);
  };
  const again = (): void => {
    leave();
    timer = setTimeout(connect, retryMs);
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
  };
  // Without waiting for the closing handshake, which a dead connection does not answer.
  const watch = setInterval(() => {
    if (socket && Date.now() - aliveAt > DEAD_MS) again();
  }, CHECK_MS);
  const turn = (): void => {
    if (document.hidden) leave();
    else if (!socket) connect();
  };
  document.addEventListener('visibilitychange', turn);
  connect();
  return () => {
    document.removeEventListener('visibilitychange', turn);
    clearInterval(watch);
    leave();
  };
}
