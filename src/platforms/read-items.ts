import { LruMap } from '../core/lru-map.ts';
import type { Platform } from '../core/model.ts';
import type { BadRow, ReadContext } from './contract.ts';
import { isItemError } from './parse-rows.ts';

/** A group of at most this many ids that fails is read one by one; a larger one is halved. */
const READ_SINGLY = 10;
/** Left-out items that are tried again in one call. More failures in a row would open the host's breaker. */
const RETRIES = 4;
const REMEMBERED = 1000;

export interface ItemReaderOptions<T> {
  platform: Platform;
  kind: BadRow['kind'];
  /** Ids in one request. */
  groupSize: number;
  /** Reads a group. Ids that the platform does not have are absent from the result. */
  read: (ids: readonly string[], context: ReadContext) => Promise<T[]>;
}

/**
 * Reads lists of ids in groups. Items that cannot be read are left out, reported as bad rows, and tried again alone by the next calls:
 * they fail neither their group nor the job that needs it.
 */
export class ItemReader<T> {
  readonly #options: ItemReaderOptions<T>;
  /** Why each item was left out; those tried longest ago first. */
  readonly #leftOut = new LruMap<string, string>(REMEMBERED);
  /** Items that failed under a context are not asked for again under the same one. */
  readonly #failed = new WeakMap<ReadContext, Set<string>>();

  constructor(options: ItemReaderOptions<T>) {
    this.#options = options;
  }

  /** The readable items of these ids. Throws what concerns more than an item, such as a platform that is away. */
  async readAll(ids: readonly string[], context: ReadContext): Promise<T[]> {
    const failed = this.#failedUnder(context);
    const due = ids.filter((id) => !failed.has(id));
    const found: T[] = [];
    const fresh = due.filter((id) => !this.#leftOut.has(id));
    for (let from = 0; from < fresh.length; from += this.#options.groupSize) {
      found.push(...(await this.#readGroup(fresh.slice(from, from + this.#options.groupSize), context)));
    }
    const again = due.filter((id) => this.#leftOut.has(id) && !failed.has(id));
    return found.concat(await this.#retry(again, context));
  }

  /** Tries items that were left out before: those that can be read now. */
  async readLeftOut(context: ReadContext): Promise<T[]> {
    const failed = this.#failedUnder(context);
    return this.#retry(
      [...this.#leftOut.entries()].flatMap(([id]) => (failed.has(id) ? [] : id)),
      context,
    );
  }

  async #retry(ids: readonly string[], context: ReadContext): Promise<T[]> {
    for (const id of ids.slice(RETRIES)) this.#report(id, this.#leftOut.get(id) ?? '', context);
    return this.#readEach(ids.slice(0, RETRIES), context);
  }

  async #readGroup(ids: readonly string[], context: ReadContext): Promise<T[]> {
    const whole = await this.#tryRead(ids, context);
    if (!('error' in whole)) return whole.found;
    if (ids.length === 1) return this.#leaveOut(ids[0] ?? '', whole.error, context);
    const found: T[] = [];
    let groups = [ids];
    // Level by level: the readable half of a group answers between two failures.
    while (groups.some(({ length }) => length > READ_SINGLY)) {
      const failing: (readonly string[])[] = [];
      for (const half of groups.flatMap(halves)) {
        const part = await this.#tryRead(half, { ...context, isAskedOnce: true });
        if ('error' in part) failing.push(half);
        else found.push(...part.found);
      }
      groups = failing;
    }
    return found.concat(await this.#readEach(groups.flat(), context));
  }

  /** One by one, each asked once: it failed before. */
  async #readEach(ids: readonly string[], context: ReadContext): Promise<T[]> {
    const found: T[] = [];
    for (const id of ids) {
      const one = await this.#tryRead([id], { ...context, isAskedOnce: true });
      if ('error' in one) this.#leaveOut(id, one.error, context);
      else {
        this.#leftOut.delete(id);
        found.push(...one.found);
      }
    }
    return found;
  }

  async #tryRead(ids: readonly string[], context: ReadContext): Promise<{ found: T[] } | { error: string }> {
    try {
      return { found: await this.#options.read(ids, context) };
    } catch (error) {
      if (!isItemError(error)) throw error;
      return { error: `could not be read: ${error.message} ${error.detail}` };
    }
  }

  #leaveOut(id: string, reason: string, context: ReadContext): [] {
    this.#leftOut.set(id, reason);
    this.#report(id, reason, context);
    return [];
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

function halves(ids: readonly string[]): (readonly string[])[] {
  const middle = Math.ceil(ids.length / 2);
  return [ids.slice(0, middle), ids.slice(middle)];
}
