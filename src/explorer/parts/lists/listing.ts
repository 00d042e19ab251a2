import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../api.ts';
import { go } from '../url.ts';

/** Rows of a page. */
export const PAGE = 50;

interface ListPage<T> {
  rows: readonly T[];
  /** Cursor of the next page; null after the last. */
  next: string | null;
  total: number;
  freshTo: string | null;
}
/** Reads a page of a list: the first one, or the one at a cursor. */
export type ReadPage<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>;

/** A list as far as its pages are loaded. */
class Listing<T> {
  readonly rows: T[] = [];
  total = 0;
  freshTo: string | null = null;
  /** undefined before the first page, null after the last. */
  #cursor: string | null | undefined;
  readonly #read: ReadPage<T>;

  constructor(read: ReadPage<T>) {
    this.#read = read;
  }

  get ended(): boolean {
    return this.#cursor === null;
  }

  /** Adds a page of rows, unless the list ends. */
  async more(signal: AbortSignal): Promise<void> {
    if (this.#cursor === null) return;
    const { rows, next, total, freshTo } = await this.#read(this.#cursor, signal);
    this.rows.push(...rows);
    [this.#cursor, this.total] = [next, total];
    this.freshTo ??= freshTo;
  }
}

export interface List<T> {
  /** Differs for other filters or another order. */
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

/** Opens the first row of a list as soon as the list asked for is loaded; `address` is that of a row. Returns the function that asks for it. */
export function useOpenFirst<T>(list: List<T>, address: (row: T) => string): () => void {
  const [isOpening, setOpening] = useState(false);
  useEffect(() => {
    if (!isOpening || list.isOld || list.loading) return;
    setOpening(false);
    const [first] = list.rows;
    if (first) go(address(first));
  }, [isOpening, list.isOld, list.loading]);
  return () => setOpening(true);
}

const NO_ROWS: readonly never[] = [];
/** The last list, for a user who comes back to it within LEFT_MS. */
let left: { key: string; listing: Listing<unknown>; at: number } | null = null;
export const LEFT_MS = 300_000;
const leftAs = (key: string | null): Listing<unknown> | null =>
  left !== null && left.key === key && Date.now() - left.at < LEFT_MS ? left.listing : null;

/** A list by its `key`; `more` loads the next page. Rows stay until the next list is loaded. Nothing is read while `key` is null. */
export function useList<T>(key: string | null, read: ReadPage<T>): List<T> {
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
    const listing = known ?? new Listing(read);
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
