import { Cache } from '../core/cache.ts';
import { PlatformError } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import type { BadRow, ReadContext } from './contract.ts';
import { isDoubtfulError, isItemError } from './parse-rows.ts';
import { partsOf } from '../core/parts.ts';

/** A group of at most this many ids that fails is read one by one; a larger one is halved. */
const READ_SINGLY = 10;
/** After this many errors in a row an item that was readable before is requested, as a test; more errors would open the host's breaker. */
const DOUBTED = 3;
/** Left-out items that are tried again in one call, and how many of them may fail. */
const RETRIES = 50;
const FAILED_RETRIES = 4;
const REMEMBERED = 1000;
/** This many failures without an answer are the platform's, not those of single items. */
const MOST_FAILURES = 16;

interface ItemReaderOptions<T> {
  platform: Platform;
  kind: BadRow['kind'];
  /** Ids in one request. */
  groupSize: number;
  /** Reads a group. Ids that the platform does not have are absent from the result. */
  read: (ids: readonly string[], context: ReadContext) => Promise<T[]>;
  /** Whether items of a host that is away are left out too, because what they complete comes from another host. */
  isOfOtherHost?: boolean;
}

/** One call: what it found, and the items that failed since the platform last answered. */
interface Reading<T> {
  context: ReadContext;
  found: T[];
  doubted: { id: string; error: PlatformError }[];
}

/**
 * Reads ids in groups. Unreadable items are left out, reported, and tried again alone by later calls: they fail nothing else.
 * An item fails: it is doubted. Another item answers: the doubted ones are left out. An item that has answered before fails too: the
 * platform is away, and the call throws.
 */
export class ItemReader<T> {
  readonly #options: ItemReaderOptions<T>;
  /** Why each item was left out; those tried longest ago first. */
  readonly #leftOut = new Cache<string, string>({ limit: REMEMBERED });
  /** Items that failed under a context are not asked for again under the same one. */
  readonly #failed = new WeakMap<ReadContext, Set<string>>();
  /** An item of the last request that was answered: it is asked for again to see whether the platform is away. */
  #probeId: string | undefined;

  constructor(options: ItemReaderOptions<T>) {
    this.#options = options;
  }

  /** The readable items of these ids. Throws what concerns more than an item, such as a platform that is away, unless `isOfOtherHost`. */
  async readAll(ids: readonly string[], context: ReadContext): Promise<T[]> {
    try {
      return await this.#readAll(ids, context);
    } catch (error) {
      return this.#leaveOutAll(ids, error, context);
    }
  }

  async #readAll(ids: readonly string[], context: ReadContext): Promise<T[]> {
    const failed = this.#failedUnder(context);
    const due = ids.filter((id) => !failed.has(id));
    const reading: Reading<T> = { context, found: [], doubted: [] };
    const fresh = due.filter((id) => !this.#leftOut.has(id));
    for (const part of partsOf(fresh, this.#options.groupSize)) {
      await this.#readGroup(part, reading);
    }
    await this.#settleDoubts(reading);
    const again = due.filter((id) => this.#leftOut.has(id) && !failed.has(id));
    return reading.found.concat(await this.#retry(again, context));
  }

  /** Tries items that were left out before: those that can be read now. */
  async readLeftOut(context: ReadContext): Promise<T[]> {
    const failed = this.#failedUnder(context);
    const ids = this.#leftOut.entries().flatMap(([id]) => (failed.has(id) ? [] : id));
    try {
      return await this.#retry(ids, context);
    } catch (error) {
      return this.#leaveOutAll(ids, error, context);
    }
  }

  #leaveOutAll(ids: readonly string[], error: unknown, context: ReadContext): T[] {
    const isOther = this.#options.isOfOtherHost === true && error instanceof PlatformError;
    if (!isOther || error.kind === 'over_share' || context.signal?.aborted === true) throw error;
    const failed = this.#failedUnder(context);
    for (const id of ids) if (!failed.has(id)) this.#leaveOut(id, error, context);
    return [];
  }

  /** Each item is requested once. A failure of a known bad item does not count against its host. */
  async #retry(ids: readonly string[], context: ReadContext): Promise<T[]> {
    const reading: Reading<T> = { context, found: [], doubted: [] };
    let failures = 0;
    for (const [at, id] of ids.entries()) {
      if (at >= RETRIES || failures >= FAILED_RETRIES) this.#report(id, this.#leftOut.peek(id) ?? '', context);
      else {
        const error = await this.#tryRead([id], reading, { ...context, isAskedOnce: true, failedBefore: true });
        if (error === null) this.#leftOut.delete(id);
        else this.#leaveOut(id, error, context);
        // The other items may time out too.
        if (error !== null) failures += error.kind === 'timeout' ? FAILED_RETRIES : 1;
      }
    }
    return reading.found;
  }

  async #readGroup(ids: readonly string[], reading: Reading<T>): Promise<void> {
    const { context, doubted } = reading;
    const error = await this.#tryRead(ids, reading, doubted.length === 0 ? context : { ...context, isAskedOnce: true });
    if (error === null) return;
    if (ids.length === 1) return this.#doubt(ids[0] ?? '', error, reading);
    // A platform that is away is not asked for every item.
    if (!isItemError(error) && (await this.#isAway(reading))) throw error;
    let groups = [ids];
    // Level by level: the readable half of a group answers between two failures.
    while (groups.some(({ length }) => length > READ_SINGLY)) {
      const failing: (readonly string[])[] = [];
      for (const half of groups.flatMap(halves)) {
        if ((await this.#tryRead(half, reading, { ...context, isAskedOnce: true })) !== null) failing.push(half);
      }
      groups = failing;
    }
    for (const id of groups.flat()) {
      const single = await this.#tryRead([id], reading, { ...context, isAskedOnce: true });
      if (single !== null) await this.#doubt(id, single, reading);
    }
  }

  /** Adds what was found. Returns the error if a single item may have caused it; throws any other. */
  async #tryRead(ids: readonly string[], reading: Reading<T>, context: ReadContext): Promise<PlatformError | null> {
    try {
      reading.found.push(...(await this.#options.read(ids, context)));
    } catch (error) {
      if (isItemError(error) || (isDoubtfulError(error) && context.signal?.aborted !== true)) return error;
      throw error;
    }
    this.#probeId = ids[0];
    this.#leaveOutDoubted(reading);
    return null;
  }

  async #doubt(id: string, error: PlatformError, reading: Reading<T>): Promise<void> {
    reading.doubted.push({ id, error });
    if (reading.doubted.length >= DOUBTED) await this.#settleDoubts(reading);
  }

  /** Leaves the doubted items out if the platform answers for another, or if their failures are their own; throws otherwise. */
  async #settleDoubts(reading: Reading<T>): Promise<void> {
    const unsure = reading.doubted.find(({ error }) => !isItemError(error));
    if (unsure || reading.doubted.length >= DOUBTED) {
      const isAway = await this.#isAway(reading);
      if (unsure && isAway !== false) throw unsure.error;
    }
    this.#leaveOutDoubted(reading);
  }

  /** Whether an item that could be read fails too; null if there is none. */
  async #isAway({ context }: Reading<T>): Promise<boolean | null> {
    const known = this.#probeId;
    if (known === undefined) return null;
    this.#probeId = undefined;
    const probe: Reading<T> = { context, found: [], doubted: [] };
    return (await this.#tryRead([known], probe, { ...context, isAskedOnce: true })) !== null;
  }

  #leaveOutDoubted({ doubted, context }: Reading<T>): void {
    for (const { id, error } of doubted.splice(0)) this.#leaveOut(id, error, context);
  }

  #leaveOut(id: string, error: PlatformError, context: ReadContext): void {
    const reason = `could not be read: ${error.message} ${error.detail}`;
    this.#leftOut.set(id, reason);
    this.#report(id, reason, context);
  }

  #report(id: string, reason: string, context: ReadContext): void {
    const { platform, kind } = this.#options;
    this.#failedUnder(context).add(id);
    context.onBadRow({ platform, kind, id, reason });
  }

  #failedUnder(context: ReadContext): Set<string> {
    const failed = this.#failed.get(context) ?? new Set();
    this.#failed.set(context, failed);
    return failed;
  }
}

/**
 * Reads items in one request. If it fails because of an item, its halves are read, down to the items that fail: returns these with
 * their failures. A single item, and a failure that concerns more than an item, throws.
 */
export async function readHalved<I>(
  items: readonly I[],
  context: ReadContext,
  read: (part: readonly I[], context: ReadContext) => Promise<void>,
): Promise<Map<I, PlatformError>> {
  const failed = new Map<I, PlatformError>();
  let [groups, own, failures] = [[items], context, 0];
  while (groups.length > 0) {
    const failing: (readonly I[])[] = [];
    for (const group of groups) {
      try {
        await read(group, own);
        failures = -Infinity;
      } catch (error) {
        failures += 1;
        if (!isItemError(error) || items.length === 1 || failures >= MOST_FAILURES) throw error;
        const [first] = group;
        if (group.length === 1 && first !== undefined) failed.set(first, error);
        else failing.push(...halves(group));
      }
    }
    groups = failing;
    own = { ...context, isAskedOnce: true };
  }
  return failed;
}

/** A list as two, the first not the shorter. */
function halves<I>(items: readonly I[]): (readonly I[])[] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
