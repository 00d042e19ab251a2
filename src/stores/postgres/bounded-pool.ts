import pg from 'pg';

/**
 * Maximum statements and transactions that wait for a connection. Two cores answer about a thousand look-ups a second, so later ones would
 * wait longer than the three seconds after which they fail.
 */
const MAX_WAITING = 3000;

/** Too many statements of this process wait for a connection. */
export class PoolFullError extends Error {
  override name = 'PoolFullError';
}

type Done = Parameters<Parameters<pg.Pool['connect']>[0]>;

/** A pool that refuses a statement at once if too many wait already. */
export class BoundedPool extends pg.Pool {
  readonly #maxWaiting: number;

  constructor(config: pg.PoolConfig, maxWaiting = MAX_WAITING) {
    super(config);
    this.#maxWaiting = maxWaiting;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: (...done: Done) => void): void;
  override connect(callback?: (...done: Done) => void): Promise<pg.PoolClient> | void {
    if (this.waitingCount < this.#maxWaiting) return callback ? super.connect(callback) : super.connect();
    const full = new PoolFullError('too many statements wait for a connection');
    if (!callback) return Promise.reject(full);
    callback(full, undefined, () => {});
  }
}
