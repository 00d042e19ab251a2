import type PQueue from 'p-queue';
import type { EventSlice } from './log/event-slice.ts';

/** Destination of one subscription's events without cursors. */
export interface EventSink {
  /** Queues one event, sent with the next call of `flush` at the latest; `data` is JSON. */
  event(name: 'quote' | 'book' | 'book_change' | 'match_gap' | 'gap' | 'order', data: string): void;
  /** Sends what was queued since the last call as one piece; false if the reader is behind and must be awaited with `room`. */
  flush(): boolean;
  isBehind(): boolean;
}

/** Destination of all events of one subscription. */
export interface Sink extends EventSink {
  /** Events of the log, each with its cursor. */
  events(slice: EventSlice): void;
  /** Runs one at a time for all subscriptions of a connection, so that a slow reader holds one page of the log in memory, not many. */
  readonly catchUps: PQueue;
  /** Resolves once there is room for more; rejects with ReaderGone if the connection ends first. */
  room(): Promise<void>;
}

/** The connection of a reader that was behind has ended. */
export class ReaderGone extends Error {}
