import { ApiError } from '../core/errors.ts';

/** What one user may have open in this process, all connections together. */
const LIMITS = {
  free: { connections: 5, markets: 100 },
  pro: { connections: 50, markets: 5000 },
} as const;
export type StreamTier = keyof typeof LIMITS;

/** A key that was revoked ends its streams within a second; readers that take nothing are found as often. */
const CHECK_MS = 300;
const STOP_MS = 3000;

/** Why a connection is ended by the service. */
export type EndReason = 'revoked' | 'slow' | 'stopping';

/** One open stream, as its keeper sees it. */
export interface Connection {
  readonly userId: string;
  readonly tier: StreamTier;
  /** Names who was let in: connections of one key are checked together. */
  readonly admission: string;
  /** Number of markets that its subscriptions name. */
  markets(): number;
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
  readonly #open = new Set<Connection>();
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  get size(): number {
    return this.#open.size;
  }

  /** Counts a connection in; 429 when its user has as many as they may. */
  add(connection: Connection): void {
    if (this.#isStopping) {
      throw new ApiError(503, 'The service is stopping', { resolution: 'Reconnect in a few seconds.', retryAfter: 5 });
    }
    const { connections: limit } = LIMITS[connection.tier];
    const own = [...this.#open].filter(({ userId }) => userId === connection.userId).length;
    if (own >= limit) throw tooMany(`${limit} open streams of one user`, 'Close a stream first.');
    this.#open.add(connection);
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  /** 429 when a user would follow more markets than they may, `more` beside those of their connections. */
  allowMarkets({ userId, tier }: Pick<Connection, 'userId' | 'tier'>, more: number): void {
    const { markets: limit } = LIMITS[tier];
    let named = more;
    for (const open of this.#open) if (open.userId === userId) named += open.markets();
    if (named > limit) throw tooMany(`${limit} markets in the streams of one user`, 'Name fewer markets.');
  }

  remove(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all streams; what is queued leaves first, within a bound. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = Promise.allSettled([...this.#open].map((connection) => connection.end('stopping')));
    const late = new Promise((resolve) => setTimeout(resolve, STOP_MS).unref());
    await Promise.race([ended, late]);
    for (const connection of this.#open) connection.cut();
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const admitted = new Map<string, boolean | Promise<boolean>>();
    for (const connection of this.#open) {
      if (connection.isStalled()) {
        void connection.end('slow');
        continue;
      }
      const { admission } = connection;
      const known = admitted.get(admission) ?? connection.isAdmitted();
      admitted.set(admission, known);
      if (known === true) continue;
      if (known === false || !(await known)) void connection.end('revoked');
    }
  }
}

const tooMany = (errorText: string, resolution: string): ApiError =>
  new ApiError(429, 'Too many streams', { resolution, errorText, retryAfter: 10 });
