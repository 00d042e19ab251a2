import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../api.ts';

/** Rows of a page. */
export const PAGE = 50;

export interface ListPage<T> {
  rows: readonly T[];
  /** Cursor of the next page; null after the last. */
  next: string | null;
  total: number;
  freshTo: string | null;
}
/** Where the rows of a list come from, and their order. */
export interface ListSource<T> {
  read: (platform: string, cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>;
  /** Smaller first, as the pages of one platform are sorted. */
  rank(row: T): number;
}

interface Part<T> {
  platform: string;
  /** Fetched but not yet in the list. */
  waiting: T[];
  /** undefined before the first page, null after the last. */
  cursor: string | null | undefined;
  total: number;
  freshTo: string | null;
}

/** One list over several platforms: merges the sorted pages of each as far as all of them are loaded. */
class Listing<T> {
  readonly rows: T[] = [];
  readonly #sources: Part<T>[];
  readonly #from: ListSource<T>;

  constructor(platforms: readonly string[], from: ListSource<T>) {
    this.#sources = platforms.map((platform) => ({
      platform,
      waiting: [],
      cursor: undefined,
      total: 0,
      freshTo: null,
    }));
    this.#from = from;
  }

  get total(): number {
    return this.#sources.reduce((all, { total }) => all + total, 0);
  }
  /** As of when the least recently listed platform was listed. */
  get freshTo(): string | null {
    const [oldest] = this.#sources.flatMap(({ freshTo }) => freshTo ?? []).toSorted();
    return oldest ?? null;
  }
  get ended(): boolean {
    return this.#sources.every(({ cursor, waiting }) => cursor === null && waiting.length === 0);
  }

  /** Adds at least a page of rows, unless the list ends. */
  async more(signal: AbortSignal): Promise<void> {
    const before = this.rows.length;
    while (this.rows.length < before + PAGE && !this.ended) {
      // All are waited for: a platform asked again while its answer is on the way would be listed twice.
      const results = await Promise.allSettled(
        this.#sources.filter(({ waiting }) => waiting.length === 0).map((one) => this.#fetch(one, signal)),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      this.#merge();
    }
  }

  async #fetch(part: Part<T>, signal: AbortSignal): Promise<void> {
    if (part.cursor === null) return;
    const { rows, next, total, freshTo } = await this.#from.read(part.platform, part.cursor, signal);
    part.waiting.push(...rows);
    part.cursor = next;
    part.total = total;
    part.freshTo ??= freshTo;
  }

  #merge(): void {
    for (;;) {
      // A platform with further pages but no waiting row may have the next row.
      if (this.#sources.some(({ waiting, cursor }) => waiting.length === 0 && cursor !== null)) return;
      let first: Part<T> | undefined;
      for (const source of this.#sources) {
        const [row] = source.waiting;
        const best = first?.waiting[0];
        if (row !== undefined && (best === undefined || this.#from.rank(row) < this.#from.rank(best))) first = source;
      }
      const next = first?.waiting.shift();
      if (next === undefined) return;
      this.rows.push(next);
    }
  }
}

export interface List<T> {
  /** Differs for other platforms, filters or order. */
  key: string;
  rows: readonly T[];
  total: number;
  freshTo: string | null;
  ended: boolean;
  loading: boolean;
  /** The rows are those of the list before, until the one asked for is loaded. */
  isOld: boolean;
  failure: ApiFailure | undefined;
  more: () => void;
  reload: () => void;
}

const NO_ROWS: readonly never[] = [];
/** The last list, for a user who comes back to it within LEFT_MS. */
let left: { key: string; listing: Listing<unknown>; at: number } | null = null;
export const LEFT_MS = 300_000;
const leftAs = (key: string | null): Listing<unknown> | null =>
  left !== null && left.key === key && Date.now() - left.at < LEFT_MS ? left.listing : null;

/** A list by its `key`, of which every part of `from` is made; `more` loads the next page. Rows stay until the next list is loaded. */
export function useList<T>(key: string | null, platforms: readonly string[], from: ListSource<T>): List<T> {
  // What is left under a key was made from the same source.
  const leftHere = (): Listing<T> | null => leftAs(key) as Listing<T> | null;
  const [shown, setShown] = useState<{ key: string | null; listing: Listing<T>; at: number } | null>(() => {
    const listing = leftHere();
    return listing && { key, listing, at: listing.rows.length };
  });
  const [failure, setFailure] = useState<ApiFailure | undefined>();
  const [turn, setTurn] = useState(0);
  const work = useRef<{ listing: Listing<T>; ending: AbortController; busy: boolean } | null>(null);
  const [loading, setLoading] = useState(shown === null);

  const advance = async (): Promise<void> => {
    const now = work.current;
    if (!now || now.busy || now.listing.ended) return;
    now.busy = true;
    setLoading(true);
    try {
      await now.listing.more(now.ending.signal);
      if (now.ending.signal.aborted) return;
      setFailure(undefined);
      setShown({ key, listing: now.listing, at: now.listing.rows.length });
    } catch (error) {
      if (now.ending.signal.aborted) return;
      setFailure(error instanceof ApiFailure ? error : new ApiFailure(0, String(error), ''));
    } finally {
      now.busy = false;
      if (work.current === now) setLoading(false);
    }
  };
  useEffect(() => {
    if (key === null) return;
    const known = turn === 0 ? leftHere() : null;
    const listing = known ?? new Listing(platforms, from);
    const now = { listing, ending: new AbortController(), busy: false };
    work.current = now;
    setFailure(undefined);
    if (known) {
      setShown({ key, listing, at: listing.rows.length });
      setLoading(false);
    } else void advance();
    return () => {
      now.ending.abort();
      if (listing.rows.length > 0) left = { key, listing, at: Date.now() };
    };
  }, [key, turn]);
  useEffect(() => {
    if (!failure || failure.retryMs === null) return;
    const timer = setTimeout(() => void advance(), failure.retryMs);
    return () => clearTimeout(timer);
  }, [failure]);
  return {
    key: key ?? '',
    rows: shown?.listing.rows ?? NO_ROWS,
    total: shown?.listing.total ?? 0,
    freshTo: shown?.listing.freshTo ?? null,
    ended: shown?.listing.ended ?? false,
    loading,
    isOld: shown !== null && shown.key !== key,
    failure,
    more: () => void advance(),
    reload: () => setTurn((n) => n + 1),
  };
}
