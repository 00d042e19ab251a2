import PQueue from 'p-queue';
import { StoreError } from './errors.ts';

/** lookUps: reads of few markets for a caller. scans: reads of all markets for a caller. background: reads that no caller waits for. */
type Lane = 'lookUps' | 'scans' | 'background';

/** How many reads of each lane run at once; the others wait in their order. */
export type Shares = Readonly<Record<Lane, number>>;

/** For the embedded engine: it has few connections and shares the machine. */
export const EMBEDDED_SHARES: Shares = { lookUps: 3, scans: 1, background: 2 };
export const SERVER_SHARES: Shares = { lookUps: 6, scans: 2, background: 2 };

/** Maximum waiting reads of a lane: at 20 ms each the last one waits for some seconds. */
export const MAX_WAITING = 256;

/** Background queries: the first line of a query's file says who runs it. */
const BACKGROUND = /^-- (ingestion|present|books|files|npm run verify)\b/;
/** Reads for callers whose cost grows with the store. */
export const SCANS: ReadonlySet<string> = new Set([
  'calibration',
  'categories',
  'events_list',
  'markets_list',
  'search_words',
  'series_list',
  'trending',
  'trending_completeness',
  'wallet',
]);

/** A named read. */
interface Read {
  name: string;
  /** The text of the query's file. */
  text: string;
  /** Whether the cost grows with the store for these parameters; if not, the read is a look-up. */
  isScan?: boolean | undefined;
}

const laneOf = ({ name, text, isScan = SCANS.has(name) }: Read): Lane => {
  if (BACKGROUND.test(text)) return 'background';
  return isScan ? 'scans' : 'lookUps';
};

/** Shares the engine among the named reads of this process, so that a look-up waits neither for scans nor for ingestion. */
export class Lanes {
  readonly #queues: Record<Lane, PQueue>;

  constructor(shares: Shares) {
    const queue = (lane: Lane): PQueue => new PQueue({ concurrency: shares[lane] });
    this.#queues = { lookUps: queue('lookUps'), scans: queue('scans'), background: queue('background') };
  }

  /** Runs a read in its turn, unless `signal` comes first. StoreError `busy` at once if too many wait. */
  run<T>(asked: Read, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    const queue = this.#queues[laneOf(asked)];
    if (queue.size >= MAX_WAITING) return Promise.reject(new StoreError('busy'));
    return queue.add(read, { signal });
  }
}
