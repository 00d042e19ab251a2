import { ApiError } from '../core/errors.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { type StreamTier, type StreamUser, UserLimits } from './user-limits.ts';

/** A key that was revoked ends its streams within a second; readers that take nothing are found as often. */
const CHECK_MS = 300;
const STOP_MS = 3000;

/** Why a connection is ended by the service. */
export type EndReason = 'revoked' | 'slow' | 'stopping';

/** One open stream, as its keeper sees it. */
export interface Connection extends StreamUser {
  /** Names who was let in: connections of one key are checked together. */
  readonly admission: string;
  /** Whether who opened it may still read. */
  isAdmitted(): boolean | Promise<boolean>;
  /** Whether its reader is behind and takes nothing; asked at every check. */
  isStalled(): boolean;
  /** Ends it once what is queued has left; resolves when it is closed. */
  end(reason: EndReason): Promise<void>;
  /** Ends it at once. */
  cut(): void;
}

/** Every open stream of this process: counts them by user, ends those of revoked keys and of readers that take nothing, and all of them at a stop. */
export class Connections {
  /** With what gives its places back. */
  readonly #open = new Map<Connection, () => void>();
  readonly #limits: UserLimits;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(shared: Pick<Shared, 'claim' | 'unclaim'>) {
    this.#limits = new UserLimits(shared);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Counts a connection in, with the markets that it names for as long as it is open; 429 when its user has as many as they may. */
  async add(connection: Connection, markets: readonly string[] = []): Promise<void> {
    this.#refuseStopping();
    const places = [await this.#limits.connect(connection)];
    const leave = (): void => places.forEach((giveBack) => giveBack());
    try {
      places.push(await this.#limits.follow(connection, markets));
      this.#refuseStopping();
    } catch (error) {
      leave();
      throw error;
    }
    this.#open.set(connection, leave);
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref();
  }

  /** Counts markets that a connection names from now on, until the returned function is called; 429 for more than its user may. */
  follow(user: StreamUser, markets: readonly string[]): Promise<() => void> {
    return this.#limits.follow(user, markets);
  }

  /** 429 for more named markets than any user of the tier may have. */
  allowMarkets(tier: StreamTier, count: number): void {
    this.#limits.allowMarkets(tier, count);
  }

  remove(connection: Connection): void {
    this.#open.get(connection)?.();
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all streams; what is queued leaves first, within a bound. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = Promise.allSettled([...this.#open.keys()].map((connection) => connection.end('stopping')));
    const late = new Promise((resolve) => setTimeout(resolve, STOP_MS).unref());
    await Promise.race([ended, late]);
    for (const connection of this.#open.keys()) connection.cut();
    clearInterval(this.#timer);
  }

  #refuseStopping(): void {
    if (!this.#isStopping) return;
    throw new ApiError(503, 'The service is stopping', { resolution: 'Reconnect in a few seconds.', retryAfter: 5 });
  }

  /** Look-ups go side by side: a slow one keeps no other key waiting. */
  #check(): void {
    const admitted = new Map<string, boolean | Promise<boolean>>();
    for (const connection of this.#open.keys()) {
      if (connection.isStalled()) {
        void connection.end('slow');
        continue;
      }
      const { admission } = connection;
      const known = admitted.get(admission) ?? connection.isAdmitted();
      admitted.set(admission, known);
      if (known === true) continue;
      void Promise.resolve(known).then((isAdmitted) => (isAdmitted ? undefined : connection.end('revoked')));
    }
  }
}
