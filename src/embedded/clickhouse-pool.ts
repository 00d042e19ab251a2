import type { Engine } from './clickhouse-engine.ts';
import { EngineError } from './clickhouse-errors.ts';
import { EngineSession } from './clickhouse-session.ts';

export interface PoolOptions {
  /** Queries that run at the same time; libuv's pool must hold four threads more. */
  size: number;
  /** Requests that may wait for a connection. */
  queue: number;
}

/** The connections that the requests of one face take turns on. */
export class SessionPool {
  readonly #options: PoolOptions;
  readonly #sessions: EngineSession[];
  readonly #free: EngineSession[];
  readonly #waiting: { give(session: EngineSession): void }[] = [];

  constructor(engine: Engine, options: PoolOptions) {
    this.#options = options;
    this.#sessions = Array.from({ length: options.size }, () => new EngineSession(engine));
    this.#free = [...this.#sessions];
  }

  /** Runs `work` on a connection of its own; waits for a free one until `signal`, refuses with 202 when too many wait already. */
  async use<T>(signal: AbortSignal, work: (session: EngineSession) => Promise<T>): Promise<T> {
    const session = await this.#take(signal);
    try {
      return await work(session);
    } finally {
      const next = this.#waiting.shift();
      if (next) next.give(session);
      else this.#free.push(session);
    }
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #take(signal: AbortSignal): Promise<EngineSession> {
    signal.throwIfAborted();
    const session = this.#free.pop();
    if (session) return Promise.resolve(session);
    if (this.#waiting.length >= this.#options.queue)
      throw EngineError.of(
        'TOO_MANY_SIMULTANEOUS_QUERIES',
        `Too many simultaneous queries. Maximum: ${this.#options.size} running and ${this.#options.queue} waiting.`,
      );
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter = {
        give: (freed: EngineSession) => {
          signal.removeEventListener('abort', leave);
          resolve(freed);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }
}
