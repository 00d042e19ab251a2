import { z } from 'zod';
import { StoreError } from './errors.ts';
import { MAX_WAITING } from './lanes.ts';
import type { QueryParams } from './named-statements.ts';
import { marketKey } from '../../core/market-key.ts';
import { PLATFORMS } from '../../core/model.ts';
import type { Clock, Stop } from '../../core/time.ts';

/**
 * Look-ups of one market, which cost more to plan than to run: one statement for five markets takes a third or less of five statements.
 * Their files take {keys}, and each row has its market's `key`. Where they take {start} and {end}, it has the start `t` of its bucket too.
 */
const OF_MARKETS: ReadonlySet<string> = new Set([
  'bars_of_platform',
  'bars_of_quotes',
  'bars_of_trades',
  'merged_bars_of_platform',
  'totals_ago',
]);

/** Markets of one statement. */
const MOST = 64;
/** Buckets of one statement for several callers: all of them are in memory before the first caller has its own. */
const MOST_BUCKETS = 20_000;
/** A joined statement may read at most this many extra buckets of a market. */
const NEAR_BUCKETS = 512;
/** The last second of ClickHouse's DateTime. */
const EVER = 4_294_967_295;

const Params = z.looseObject({
  platform: z.enum(PLATFORMS),
  ref: z.string(),
  // Without buckets, a market has one row or few.
  step: z.number().default(EVER),
  start: z.number().default(0),
  end: z.number().default(EVER),
});

type Row = Readonly<{ key: string; t?: number | string }>;
/** Reads the rows of several markets. */
type Run = (params: QueryParams) => Promise<Row[]>;

/** What one caller asks for, and how its call ends. */
interface Waiting {
  key: string;
  start: number;
  end: number;
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
}

/** Runs look-ups of one market. While a statement of a kind runs, look-ups of that kind wait; the next statement answers them together. */
export class JoinedReads {
  /** The callers that wait, for each kind of which a statement runs. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  /** `timeoutMs` is how long a caller waits in all: for the statements before its own, and for that. */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  static has(name: string): boolean {
    return OF_MARKETS.has(name);
  }

  /** The rows of the market that `params` name, within their range. StoreError `busy` at once if too many wait. */
  async read(name: string, params: QueryParams, run: Run): Promise<Row[]> {
    const { platform, ref, start, end, ...others } = Params.parse(params);
    const kind = JSON.stringify([name, others, rangeClass(start, end, others.step)]);
    const waiting = this.#waiting.get(kind);
    if (waiting && waiting.length >= MAX_WAITING) throw new StoreError('busy');
    let stop: Stop | undefined;
    return new Promise<Row[]>((resolve, reject) => {
      const asked: Waiting = { key: marketKey({ platform, ref }), start, end, resolve, reject };
      stop = this.#clock.timeout(this.#timeoutMs, () => {
        const place = waiting?.indexOf(asked) ?? -1;
        if (place >= 0) waiting?.splice(place, 1);
        reject(new StoreError('timeout'));
      });
      if (waiting) waiting.push(asked);
      else void this.#runAll(kind, [asked], others.step, (several) => run({ ...others, ...several }));
    }).finally(() => stop?.());
  }

  async #runAll(kind: string, waiting: Waiting[], step: number, run: Run): Promise<void> {
    this.#waiting.set(kind, waiting);
    while (waiting.length > 0) await runTogether(waiting.splice(0, countTogether(waiting, step)), run);
    this.#waiting.delete(kind);
  }
}

/** How many of the first callers one statement may read for: one at least. */
function countTogether(waiting: readonly Waiting[], step: number): number {
  let [from, to] = [Infinity, -Infinity];
  const tooMany = waiting.findIndex(({ start, end }, before) => {
    [from, to] = [Math.min(from, start), Math.max(to, end)];
    return before === MOST || (before > 0 && ((to - from) / step) * (before + 1) > MOST_BUCKETS);
  });
  return tooMany === -1 ? waiting.length : tooMany;
}

/** The same for ranges that are about as wide and begin near each other: read as one, neither has many more buckets than it asks for. */
function rangeClass(start: number, end: number, step: number): [wide: number, at: number] {
  const wide = Math.max(2 ** Math.ceil(Math.log2(Math.max(end - start, 1))), NEAR_BUCKETS * step);
  return [wide, Math.floor(start / wide)];
}

async function runTogether(callers: readonly Waiting[], run: Run): Promise<void> {
  const start = Math.min(...callers.map((caller) => caller.start));
  const end = Math.max(...callers.map((caller) => caller.end));
  const rowsOf = new Map(callers.map(({ key }) => [key, [] as Row[]]));
  try {
    for (const row of await run({ keys: [...rowsOf.keys()].map(BigInt), start, end })) rowsOf.get(row.key)?.push(row);
    for (const caller of callers) {
      const isOwn = ({ t = caller.start }: Row): boolean => Number(t) >= caller.start && Number(t) < caller.end;
      caller.resolve((rowsOf.get(caller.key) ?? []).filter(isOwn));
    }
  } catch (error) {
    for (const { reject } of callers) reject(error);
  }
}
