import type { Clock, Stop } from '../core/time.ts';
import { ApiError } from '../core/errors.ts';
import type { Shared } from '../stores/shared/shared.ts';
import { type StreamTier, type StreamUser, UserLimits } from './user-limits.ts';

/** Streams of a revoked key end within a second; stalled readers are detected as fast. */
const CHECK_MS = 300;
const STOP_MS = 3000;

/** Why the service ends a connection. */
export type EndReason = 'revoked' | 'slow' | 'stopping';

/** The owner of a stream. */
export interface Reader extends StreamUser {
  /** Identifies the admission: connections of one key are checked together. */
  admission: string;
  /** Whether they may still read. */
  isAdmitted(): boolean | Promise<boolean>;
  /** Whether they may see orders: a session, or a key that may trade. */
  mayTrade: boolean;
}

/** An open stream, as seen by Connections. */
export interface Connection {
  readonly reader: Reader;
  /** Whether its reader is behind and reads nothing; called at every check. */
  isStalled(): boolean;
  /** Ends it after what is queued was sent; resolves when it is closed. */
  end(reason: EndReason): Promise<void>;
  /** Ends it at once. */
  cut(): void;
}

/** Every open stream of this process: counts them per user, ends those of revoked keys and stalled readers, and all at a stop. */
export class Connections {
  /** Each with the function that releases its slots. */
  readonly #open = new Map<Connection, () => void>();
  readonly #limits: UserLimits;
  readonly #clock: Clock;
  #stopChecking: Stop | undefined;
  #isStopping = false;

  constructor(shared: Pick<Shared, 'claim' | 'unclaim'>, clock: Clock) {
    this.#clock = clock;
    this.#limits = new UserLimits(shared, clock);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Registers a connection with its markets while it is open; 429 if the user has reached the limit. */
  async add(connection: Connection, markets: readonly string[] = []): Promise<void> {
    this.#refuseStopping();
    const places = [await this.#limits.connect(connection.reader)];
    const leave = (): void => places.forEach((giveBack) => giveBack());
    try {
      places.push(await this.#limits.follow(connection.reader, markets));
      this.#refuseStopping();
    } catch (error) {
      leave();
      throw error;
    }
    this.#open.set(connection, leave);
    this.#stopChecking ??= this.#clock.every(CHECK_MS, () => this.#check());
  }

  /** Counts a connection's markets until the returned function is called; 429 above the user's limit. */
  follow(user: StreamUser, markets: readonly string[]): Promise<() => void> {
    return this.#limits.follow(user, markets);
  }

  /** 429 for more markets than the tier allows for any user. */
  allowMarkets(tier: StreamTier, count: number): void {
    this.#limits.allowMarkets(tier, count);
  }

  remove(connection: Connection): void {
    this.#open.get(connection)?.();
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    this.#stopChecking?.();
    this.#stopChecking = undefined;
  }

  /** Ends all streams; what is queued is sent first, within a bound. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = Promise.allSettled([...this.#open.keys()].map((connection) => connection.end('stopping')));
    await Promise.race([ended, this.#clock.late(STOP_MS)]);
    for (const connection of this.#open.keys()) connection.cut();
    this.#stopChecking?.();
  }

  #refuseStopping(): void {
    if (!this.#isStopping) return;
    throw new ApiError(503, 'The service is stopping', { resolution: 'Reconnect in a few seconds.', retryAfter: 5 });
  }

  /** Look-ups run concurrently, so that a slow one does not delay other keys. */
  #check(): void {
    const admitted = new Map<string, boolean | Promise<boolean>>();
    for (const connection of this.#open.keys()) {
      if (connection.isStalled()) {
        void connection.end('slow');
        continue;
      }
      const { reader } = connection;
      const known = admitted.get(reader.admission) ?? reader.isAdmitted();
      admitted.set(reader.admission, known);
      if (known === true) continue;
      void Promise.resolve(known).then((isAdmitted) => (isAdmitted ? undefined : connection.end('revoked')));
    }
  }
}
