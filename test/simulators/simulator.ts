import type { ReplyEdit } from './lib/server.ts';

/** A clock a test can move; the demo uses the real one. */
export interface SimClock {
  /** Unix milliseconds. */
  now(): number;
  /** Resolves after `ms`; by default, of the machine's time. */
  sleep?(ms: number): Promise<void>;
  /** Runs `task` every `ms` until what it returns is called; by default, of the machine's time. */
  every?(ms: number, task: () => unknown): () => void;
}

/** How a world is grown. The same options give the same world, id by id. */
export interface WorldOptions {
  seed?: number;
  clock?: SimClock;
  /** Number of markets at start, settled and archived ones included. */
  markets?: number;
  /** Trades each traded market starts with, spread over `historyDays`. */
  tradesPerMarket?: number;
  historyDays?: number;
  /** Trades kept of those made since the start (lib/kept.ts). */
  keptTrades?: number;
}

/** A fault a test switches on: applies to the next `times` requests whose "METHOD path?query" matches. */
export interface Fault {
  match: RegExp;
  times: number;
  /**
   * status: answer with `status`, `body`, `headers`. hang: accept and never answer. reset: destroy the socket.
   * cut: send half of the real answer, then destroy. slow: real answer after `delayMs`.
   * after: do the work (an order is placed), then destroy the socket without an answer.
   */
  kind: 'status' | 'hang' | 'reset' | 'cut' | 'slow' | 'after';
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  delayMs?: number;
}

/** A simulated platform: an HTTP server over a seeded, self-consistent world with trading going on. */
export interface Simulator<World> {
  /** Base address(es) for the settings of contract §5, by variable name, e.g. { KALSHI_API_URL: 'http://127.0.0.1:1234/trade-api/v2' }. */
  readonly env: Record<string, string>;
  readonly world: World;
  /** Makes `count` trades happen now (prices, books, volumes move with them), and lets time-driven states advance. */
  trade(count: number): void;
  /** Trades on its own, about `perSecond` a second in place of what it did, until close. */
  startTrading(perSecond: number): void;
  inject(fault: Fault): void;
  clearFaults(): void;
  /** Every answer passes through `edit` from now on, as in a dirty world; null: answers are as they are. */
  rewrite(edit: ReplyEdit | null): void;
  /** What the service asked so far: "METHOD /path" without query → count; and how many 429 were answered. */
  readonly requests: Map<string, number>;
  readonly refused: { count: number };
  /** Set false to switch the platform's own rate limits off (benchmarks). */
  enforceLimits: boolean;
  close(): Promise<void>;
}
