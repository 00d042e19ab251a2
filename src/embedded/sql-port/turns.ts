import PQueue from 'p-queue';
import { EngineError } from '../clickhouse/errors.ts';

interface Limits {
  /** Queries that run at once. */
  size: number;
  /** Queries that may wait. */
  queue: number;
}

interface TurnsOptions extends Limits {
  /** The limits of each owner, so that none takes everything. */
  perOwner: Limits;
  /** Called when the last running query has ended. */
  onIdle: () => void;
}

/** The turns of queries on one port: all in their order, and each owner's within the limits of one. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #all: PQueue;
  readonly #owners = new Map<string, PQueue>();

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#all = new PQueue({ concurrency: options.size });
    this.#all.on('idle', options.onIdle);
  }

  /** Whether no query runs. */
  get isIdle(): boolean {
    return this.#all.pending === 0;
  }

  /** Runs `work` in its turn; waits for it until `signal`, throws 202 if too many wait already. Work that runs keeps its place to its end. */
  async run<T>(owner: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { perOwner, size, queue } = this.#options;
    const own = this.#owners.get(owner) ?? new PQueue({ concurrency: perOwner.size });
    if (own.size >= perOwner.queue)
      throw tooMany(`Limit per user: ${perOwner.size} running and ${perOwner.queue} waiting.`);
    const inAll = [...this.#owners.values()].reduce((sum, { size: ofOwner }) => sum + ofOwner, this.#all.size);
    if (inAll >= queue) throw tooMany(`Limit: ${size} running and ${queue} waiting.`);
    signal.throwIfAborted();
    this.#owners.set(owner, own);
    const waiting = new AbortController();
    const leave = (): void => waiting.abort(signal.reason);
    const stay = (): void => signal.removeEventListener('abort', leave);
    const started = (): Promise<T> => {
      stay();
      return work();
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await own.add(() => this.#all.add(started, { signal: waiting.signal }), { signal: waiting.signal });
    } finally {
      stay();
      if (own.size === 0 && own.pending === 0) this.#owners.delete(owner);
    }
  }
}

const tooMany = (limits: string): EngineError =>
  EngineError.of('TOO_MANY_SIMULTANEOUS_QUERIES', `Too many simultaneous queries. ${limits}`);
