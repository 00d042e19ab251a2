import { PlatformError } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import { DAY_US } from '../core/time.ts';

/** One page of a platform's list; `next` is the cursor of the next page, '' after the last. */
export interface ListPage {
  next: string;
}

/** Reads the page at a cursor; '' is the first page. */
type ReadPage<P extends ListPage> = (cursor: string) => Promise<P>;

/** Why no further page was read: it was the last, its cursor was asked for before, or enough pages were read. */
type ListEnd = 'last' | 'repeated' | 'more';

const MAX_PAGES = 100_000;

/**
 * The size of the pages of a feed with about `expected` wanted rows, if that is known: a little above it, because missing the oldest wanted
 * row costs another request.
 */
export const pageSize = (expected: number | undefined, limit: number): number =>
  expected === undefined ? limit : Math.min(limit, Math.ceil(expected * 1.5) + 50);

async function* pagesUntil<P extends ListPage>(read: ReadPage<P>, maxPages: number): AsyncGenerator<P, ListEnd> {
  const asked = new Set<string>();
  let cursor = '';
  while (asked.size < maxPages) {
    asked.add(cursor);
    const page = await read(cursor);
    yield page;
    if (page.next === '') return 'last';
    if (asked.has(page.next)) return 'repeated';
    cursor = page.next;
  }
  return 'more';
}

/**
 * Every page of a list, in order. A page may be short or empty: only an empty cursor ends the list. A cursor that repeats, or too many
 * pages, is a PlatformError `bad_answer`.
 */
export async function* everyPage<P extends ListPage>(
  platform: Platform,
  route: string,
  read: ReadPage<P>,
  maxPages = MAX_PAGES,
): AsyncGenerator<P> {
  const end = yield* pagesUntil(read, maxPages);
  if (end === 'last') return;
  throw new PlatformError(platform, 'bad_answer', { detail: `${route}: the cursor does not come to an end` });
}

/** The first pages of a list, `maxPages` at most, and whether they are all. */
export async function firstPages<P extends ListPage>(
  maxPages: number,
  read: ReadPage<P>,
): Promise<{ pages: P[]; end: ListEnd }> {
  const pages: P[] = [];
  const reading = pagesUntil(read, maxPages);
  for (;;) {
    const step = await reading.next();
    if (step.done) return { pages, end: step.value };
    pages.push(step.value);
  }
}

/** The oldest time of a page. One that is a day before all others may be wrong, and does not count. */
export function sureOldest(timesUs: readonly number[]): number {
  const [oldest = Infinity, second = oldest] = timesUs.toSorted((a, b) => a - b);
  return oldest < second - DAY_US ? second : oldest;
}
