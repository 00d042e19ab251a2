import { randomUUID } from 'node:crypto';
import { waitUntil } from '../core/retry.ts';
import type { Clock, Stop } from '../core/time.ts';
import { ApiError } from '../core/errors.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Limits per user, over all connections. */
const LIMITS = {
  free: { connections: 5, markets: 100 },
  pro: { connections: 50, markets: 5000 },
} as const;
export type StreamTier = keyof typeof LIMITS;

/** How long connections of a killed process count. Markets may count longer: a returning client has the same ones. */
const CONNECTION_MS = 3000;
const RENEW_CONNECTIONS_MS = 1000;
const MARKET_MS = 30_000;
const RENEW_MARKETS_MS = 10_000;
/** A slot may still belong to a lost connection: wait until that no longer counts. */
const WAIT_MS = CONNECTION_MS + 500;
const RETRY_MS = 250;
const UNLIMITED = 1e9;

export interface StreamUser {
  readonly userId: string;
  readonly tier: StreamTier;
}

interface Held {
  /** By id; false while waiting for a slot. */
  connections: Map<string, boolean>;
  /** Markets by name, with their number of subscriptions. */
  markets: Map<string, number>;
}

/** Counts connections and markets per user: over all processes that share a Redis, else in this process. */
export class UserLimits {
  readonly #shared: Pick<Shared, 'claim' | 'unclaim'>;
  readonly #users = new Map<string, Held>();
  readonly #clock: Clock;
  #stops: Stop[] = [];

  constructor(shared: Pick<Shared, 'claim' | 'unclaim'>, clock: Clock) {
    this.#clock = clock;
    this.#shared = shared;
  }

  /** 429 for more markets than the tier allows for any user. */
  allowMarkets(tier: StreamTier, count: number): void {
    if (count > LIMITS[tier].markets) throw tooManyMarkets(tier);
  }

  /** Takes a connection slot until the returned function is called; 429 if all are taken. */
  async connect({ userId, tier }: StreamUser): Promise<() => void> {
    const { connections: limit } = LIMITS[tier];
    const held = this.#of(userId);
    const refused = (): ApiError => tooManyStreams(`${limit} open streams of one user`, 'Close a stream first.');
    if (held.connections.size >= limit) throw refused();
    const id = randomUUID();
    held.connections.set(id, false);
    const set = connectionsOf(userId);
    const release = (): void => {
      if (!held.connections.delete(id)) return;
      this.#forget(userId);
      void this.#shared.unclaim(set, [id]);
    };
    const claim = (): Promise<boolean> => this.#shared.claim(set, [id], limit, CONNECTION_MS);
    if (!(await waitUntil(claim, { withinMs: WAIT_MS, everyMs: RETRY_MS, clock: this.#clock }))) {
      release();
      throw refused();
    }
    held.connections.set(id, true);
    return release;
  }

  /** Counts these markets, each once per user, until the returned function is called; 429 for too many. */
  async follow({ userId, tier }: StreamUser, names: readonly string[]): Promise<() => void> {
    if (names.length === 0) return () => {};
    const held = this.#of(userId);
    const { markets: limit } = LIMITS[tier];
    const fresh = names.filter((name) => !held.markets.has(name)).length;
    if (held.markets.size + fresh > limit) {
      this.#forget(userId);
      throw tooManyMarkets(tier);
    }
    for (const name of names) held.markets.set(name, (held.markets.get(name) ?? 0) + 1);
    const release = once(() => {
      const gone = names.filter((name) => {
        const left = (held.markets.get(name) ?? 1) - 1;
        if (left > 0) held.markets.set(name, left);
        else held.markets.delete(name);
        return left === 0;
      });
      this.#forget(userId);
      if (gone.length > 0) void this.#shared.unclaim(marketsOf(userId), gone);
    });
    if (await this.#shared.claim(marketsOf(userId), names, limit, MARKET_MS)) return release;
    release();
    throw tooManyMarkets(tier);
  }

  #of(userId: string): Held {
    const held = this.#users.get(userId) ?? { connections: new Map(), markets: new Map() };
    this.#users.set(userId, held);
    if (this.#stops.length === 0) {
      const taken = ({ connections }: Held) => [...connections].flatMap(([id, isTaken]) => (isTaken ? id : []));
      const named = ({ markets }: Held) => [...markets.keys()];
      this.#stops = [
        this.#clock.every(RENEW_CONNECTIONS_MS, () => this.#renew(connectionsOf, taken, CONNECTION_MS)),
        this.#clock.every(RENEW_MARKETS_MS, () => this.#renew(marketsOf, named, MARKET_MS)),
      ];
    }
    return held;
  }

  #forget(userId: string): void {
    const held = this.#users.get(userId);
    if (held && held.connections.size + held.markets.size === 0) this.#users.delete(userId);
    if (this.#users.size > 0) return;
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  /** Renews the counts, and restores lost ones even above the limit. */
  #renew(setOf: (userId: string) => string, membersOf: (held: Held) => string[], ttlMs: number): void {
    for (const [userId, held] of this.#users) {
      const members = membersOf(held);
      if (members.length > 0) void this.#shared.claim(setOf(userId), members, UNLIMITED, ttlMs);
    }
  }
}

const connectionsOf = (userId: string): string => `streams:${userId}`;
const marketsOf = (userId: string): string => `stream-markets:${userId}`;

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

const tooManyStreams = (errorText: string, resolution: string): ApiError =>
  new ApiError(429, 'Too many streams', { resolution, errorText, retryAfter: 10 });

const tooManyMarkets = (tier: StreamTier): ApiError =>
  tooManyStreams(`${LIMITS[tier].markets} markets in the streams of one user`, 'Name fewer markets.');
