import type { Engine } from './engine.ts';
import { EngineError } from './errors.ts';
import { EngineSession } from './session.ts';

interface PoolOptions {
  /** Concurrent queries; libuv's thread pool must have four threads more. */
  size: number;
  /** Requests that may wait for a connection. */
  queue: number;
  /** The same per owner, so that none takes everything; default: no limit of its own. */
  perOwner?: { size: number; queue: number };
  /** Called when the last running query has ended. */
  onIdle?: () => void;
}

interface Waiter {
  owner: string;
  give(session: EngineSession): void;
}

/** The connections that the requests of one port share. */
export class SessionPool {
  readonly #options: PoolOptions;
  readonly #perOwner: { size: number; queue: number };
  readonly #sessions: EngineSession[];
  readonly #free: EngineSession[];
  readonly #waiting: Waiter[] = [];
  /** Running queries by owner. */
  readonly #running = new Map<string, number>();

  constructor(engine: Engine, options: PoolOptions) {
    this.#options = options;
    this.#perOwner = options.perOwner ?? options;
    this.#sessions = Array.from({ length: options.size }, () => new EngineSession(engine));
    this.#free = [...this.#sessions];
  }

  /** Runs `work` on a connection of its own; waits for a free one until `signal`, throws 202 if too many wait already. */
  async use<T>(owner: string, signal: AbortSignal, work: (session: EngineSession) => Promise<T>): Promise<T> {
    const session = await this.#take(owner, signal);
    try {
      return await work(session);
    } finally {
      this.#count(owner, -1);
      this.#free.push(session);
      this.#serve();
      if (this.isIdle) this.#options.onIdle?.();
    }
  }

  /** Whether no query runs. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  close(): void {
    for (const session of this.#sessions) session.close();
  }

  #take(owner: string, signal: AbortSignal): EngineSession | Promise<EngineSession> {
    signal.throwIfAborted();
    // No waiting request is overtaken: those that wait while a connection is free are at their owner's limit.
    const free = this.#mayRun(owner) ? this.#free.pop() : undefined;
    if (free) {
      this.#count(owner, 1);
      return free;
    }
    const { size, queue } = this.#perOwner;
    const own = this.#waiting.filter((waiter) => waiter.owner === owner).length;
    if (own >= queue) throw tooMany(`Limit per user: ${size} running and ${queue} waiting.`);
    if (this.#waiting.length >= this.#options.queue)
      throw tooMany(`Limit: ${this.#options.size} running and ${this.#options.queue} waiting.`);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        owner,
        give: (freed) => {
          signal.removeEventListener('abort', leave);
          resolve(freed);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  /** Gives free connections to the requests that have waited longest and may run. */
  #serve(): void {
    while (this.#free.length > 0) {
      const next = this.#waiting.findIndex(({ owner }) => this.#mayRun(owner));
      const [waiter] = next < 0 ? [] : this.#waiting.splice(next, 1);
      const session = waiter && this.#free.pop();
      if (!session) return;
      this.#count(waiter.owner, 1);
      waiter.give(session);
    }
  }

  #mayRun(owner: string): boolean {
    return (this.#running.get(owner) ?? 0) < this.#perOwner.size;
  }

  #count(owner: string, change: 1 | -1): void {
    const running = (this.#running.get(owner) ?? 0) + change;
    if (running > 0) this.#running.set(owner, running);
    else this.#running.delete(owner);
  }
}

const tooMany = (limits: string): EngineError =>
  EngineError.of('TOO_MANY_SIMULTANEOUS_QUERIES', `Too many simultaneous queries. ${limits}`);
