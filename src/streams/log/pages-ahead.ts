import type { LogPage } from './read.ts';

/** Log page size while a subscription catches up. */
const PAGE_ROWS = 5000;

/** Reads a page after a position. `onFull` is called with the position of a full page's last row, shortly before the page is known. */
export type ReadPage = (after: number, limit: number, onFull: (last: number) => void) => Promise<LogPage>;

/** A page that is being read. */
interface PageAhead {
  after: number;
  /** The position of its last row; null if it is not full. */
  last: Promise<number | null>;
  page: Promise<LogPage>;
}

/** Reads one page of the log after the other, the next one while the current one is delivered. */
export class PagesAhead {
  readonly #readPage: ReadPage;
  #ahead: PageAhead | null = null;

  constructor(readPage: ReadPage) {
    this.#readPage = readPage;
  }

  /** The page after a position. Begins to read the next one if this one is full and `mayReadOn` allows it. */
  async take(after: number, mayReadOn: () => boolean): Promise<LogPage> {
    const reading = this.#ahead?.after === after ? this.#ahead : this.#read(after);
    const last = await reading.last;
    this.#ahead = last !== null && mayReadOn() ? this.#read(last) : null;
    return reading.page;
  }

  /** Drops the page that was read ahead. */
  drop(): void {
    this.#ahead = null;
  }

  #read(after: number): PageAhead {
    let page!: Promise<LogPage>;
    const last = new Promise<number | null>((resolve) => {
      page = this.#readPage(after, PAGE_ROWS, resolve);
      // A failure is thrown when the page is needed.
      page.catch(() => {}).then(() => resolve(null));
    });
    return { after, last, page };
  }
}
