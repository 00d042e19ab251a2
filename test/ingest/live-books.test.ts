import { expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { type BookSink, LiveBooks } from '../../ingest/live/live-books.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import type { BookChange, BookSide } from '../../src/core/model.ts';

const level = (price: string, size: string) => ({ price: parsePrice(price), size: parseSize(size) });
const bids = (...levels: [string, string][]): BookSide => ({ bids: levels.map((one) => level(...one)), asks: [] });
const bid = (price: string, size: string): BookChange => ({ side: 'bid', ...level(price, size) });
const source = (openedAt: number) => ({
  openedAt,
  frameMs: 1000 + openedAt,
  knownToMs: 900,
  ended: null,
  doubt: vi.fn<(ref: string) => void>(),
});

const sizes = (levels: readonly { size: bigint }[]) => levels.map(({ size }) => Number(size) / 1e6).join();
const book = (ref: string, side: BookSide) => ({ kind: 'book', ref, book: side, exchangeAtMs: null }) as const;
const change = (ref: string, ...changes: BookChange[]) =>
  ({ kind: 'book_change', ref, changes, exchangeAtMs: null }) as const;

const polled = (yes: BookSide, exchangeAtMs: number | null = null) => ({
  yes,
  exchangeAt: exchangeAtMs === null ? null : new Date(exchangeAtMs).toISOString(),
});

/** Feeds of books into a sink that writes down what it is called with, in sizes at 0.4; it knows changes only after a snapshot. */
function start() {
  const calls: string[] = [];
  const known = { has: false };
  const sink: BookSink = {
    snapshot(ref, book) {
      calls.push(`${ref} ${sizes(book.bids)}`);
      known.has = true;
    },
    change(ref, changes) {
      if (known.has) calls.push(`${ref} to ${sizes(changes)}`);
      return known.has;
    },
    gap: (ref, from, _to, reason) => void calls.push(`${ref} lost ${from} ${reason}`),
    wanted: () => ['A'],
  };
  const live = new LiveBooks(sink, systemClock);
  return { live, calls, known };
}

test('while a connection replaces another, the newer one counts for a market from its first whole book on', () => {
  const { live, calls } = start();
  const [old, young] = [source(1), source(2)];
  live.take(book('A', bids(['0.4', '1'])), old);
  live.take(change('A', bid('0.4', '9')), young);
  live.take(change('A', bid('0.4', '2')), old);
  live.take(book('A', bids(['0.4', '3'])), young);
  live.take(change('A', bid('0.4', '2')), old);
  live.take(book('A', bids(['0.4', '2'])), old);
  live.ended(old);
  live.take(change('A', bid('0.4', '4')), young);
  expect(calls).toEqual(['A 1', 'A to 2', 'A 3', 'A to 4']);
});

test('books of a connection that ended are lost from its last sign of life on, until they come whole again', () => {
  const { live, calls } = start();
  const [first, second] = [{ ...source(1), ended: 'silent' }, source(2)];
  live.take(book('A', bids(['0.4', '1'])), first);
  live.ended(first);
  live.take(change('A', bid('0.4', '2')), second);
  live.take(book('A', bids(['0.4', '3'])), second);
  live.take({ kind: 'book_lost', ref: 'A', reason: 'a message is missing' }, second);
  live.take(change('A', bid('0.4', '4')), second);
  expect(calls).toEqual([
    'A 1',
    'A lost 1970-01-01T00:00:00.900Z socket silent',
    'A 3',
    'A lost 1970-01-01T00:00:01.002Z a message is missing',
  ]);
});

test('frames that were lost make gaps from the last frame of a book on, a book that was found wrong from its last change on', () => {
  const { live, calls } = start();
  const only = source(1);
  const at = (frameMs: number) => Object.assign(only, { frameMs });
  for (const ref of ['A', 'B', 'C']) live.take(book(ref, bids(['0.4', '1'])), at(1000));
  live.take(change('B', bid('0.4', '2')), at(5000));
  for (const ref of ['A', 'B']) {
    live.take({ kind: 'book_lost', ref, reason: 'frames were lost', sinceFrame: true }, at(6000));
  }
  live.take({ kind: 'book_lost', ref: 'C', reason: 'changes were lost' }, only);
  expect(calls.filter((call) => call.includes('lost'))).toEqual([
    'A lost 1970-01-01T00:00:05.000Z frames were lost',
    'B lost 1970-01-01T00:00:05.000Z frames were lost',
    'C lost 1970-01-01T00:00:01.000Z changes were lost',
  ]);
});

test('a market that begins to be kept later begins with its whole book as changed until then', () => {
  const { live, calls, known } = start();
  const only = source(1);
  live.take(book('A', bids(['0.4', '1'], ['0.3', '5'])), only);
  known.has = false;
  live.take(change('A', bid('0.4', '2')), only);
  live.take(change('A', bid('0.3', '6')), only);
  expect(calls).toEqual(['A 1,5', 'A 2,5', 'A to 6']);
});

test('a book that does not change is seen as long as its connection lives, and begins where it became wanted', () => {
  const { live, calls, known } = start();
  const only = source(1);
  live.take(book('A', bids(['0.4', '1'])), only);
  live.take(book('B', bids(['0.4', '2'])), only);
  known.has = false;
  live.refresh();
  live.refresh();
  expect(calls).toEqual(['A 1', 'B 2', 'A 1', 'A to ']);
  expect(live.book('B')).toEqual(bids(['0.4', '2']));
  live.ended(only);
  live.refresh();
  expect(calls).toHaveLength(6);
  expect(live.book('B')).toBeNull();
});

test('a book that two polls contradict is lost since it was last known, and asked for again', () => {
  const { live, calls } = start();
  const silent = source(1);
  live.take(book('A', bids(['0.4', '1'], ['0.3', '5'])), silent);
  const read = (afterMs: number, ...levels: [string, string][]): boolean =>
    live.compare('A', polled(bids(...levels)), silent.frameMs + afterMs);
  expect(read(6000, ['0.4', '1'], ['0.3', '5'])).toBe(false);
  // Any level counts, not only the best.
  expect([read(12_000, ['0.4', '1'], ['0.3', '4']), live.book('A')?.bids.length]).toEqual([true, 2]);
  expect([read(13_000, ['0.4', '1'], ['0.3', '4']), live.book('A')]).toEqual([false, null]);
  expect(silent.doubt.mock.calls).toEqual([['A']]);
  live.take(change('A', bid('0.4', '7')), silent);
  expect(read(14_000, ['0.4', '9'])).toBe(false);
  live.take(book('A', bids(['0.4', '9'])), silent);
  expect(calls).toEqual(['A 1,5', 'A lost 1970-01-01T00:00:07.001Z the polled book differs', 'A 9']);
});

const SENT_MS = 1_790_000_000_000;
test.each([
  // When the platform dates the socket's last event and the polled book, and whether two polls replace the book.
  [SENT_MS, SENT_MS - 1, false],
  [SENT_MS, SENT_MS - 60_000, false],
  [SENT_MS, SENT_MS, true],
  [SENT_MS, SENT_MS + 1, true],
  [SENT_MS, null, true],
  [null, SENT_MS - 1, true],
])('a book of %j is contradicted by a polled one of %j: %j', (exchangeAtMs, polledMs, wanted) => {
  for (const kind of ['book', 'book_change'] as const) {
    const { live } = start();
    const silent = source(1);
    live.take({ ...book('A', bids(['0.4', '1'])), exchangeAtMs: kind === 'book' ? exchangeAtMs : null }, silent);
    if (kind === 'book_change') live.take({ ...change('A', bid('0.4', '2')), exchangeAtMs }, silent);
    const read = (afterMs: number): boolean =>
      live.compare('A', polled(bids(['0.4', '7']), polledMs), silent.frameMs + afterMs);
    expect([read(6000), read(7000)]).toEqual([wanted, false]);
    expect(live.book('A') === null).toBe(wanted);
    expect(silent.doubt).toHaveBeenCalledTimes(wanted ? 1 : 0);
  }
});

test('a book that changes, or agrees in between, is not lost for a book that is read late', () => {
  const { live, calls } = start();
  const busy = source(1);
  live.take(book('A', bids(['0.4', '1'])), busy);
  for (let ms = 0; ms < 60_000; ms += 4000) {
    live.take(change('A', bid('0.4', String(ms + 1))), Object.assign(busy, { frameMs: ms }));
    expect(live.compare('A', polled(bids(['0.6', '1'])), ms + 3000)).toBe(false);
  }
  const own = '56001';
  for (const [ms, size, again] of [
    [70_000, '1', true],
    [76_000, own, false],
    [82_000, '1', true],
  ] as const)
    expect(live.compare('A', polled(bids(['0.4', size])), ms)).toBe(again);
  // A frame that was on its way explains the difference.
  live.take(change('A', bid('0.4', '1')), Object.assign(busy, { frameMs: 82_500 }));
  expect(live.compare('A', polled(bids(['0.4', '2'])), 83_000)).toBe(false);
  expect(live.compare('B', polled(bids(['0.6', '1'])), 90_000)).toBe(false);
  expect(busy.doubt).not.toHaveBeenCalled();
  expect(calls.filter((call) => call.includes('lost'))).toEqual([]);
});

test('a platform whose polled book always differs costs fewer and fewer gaps; one agreement makes the next count at once', () => {
  const { live, calls } = start();
  const only = source(1);
  const whole = (ms: number): void => live.take(book('A', bids(['0.4', '1'])), Object.assign(only, { frameMs: ms }));
  const lost = (): number => calls.filter((call) => call.includes('lost')).length;
  let ms = 0;
  /** Polls every 30 s, once more after a difference; the socket answers a doubt with the same whole book. */
  const poll = (size: string, forMs: number): void => {
    for (const end = ms + forMs; ms < end; ms += 30_000) {
      if (live.compare('A', polled(bids(['0.4', size])), ms)) live.compare('A', polled(bids(['0.4', size])), ms + 1000);
      if (live.book('A') === null) whole(ms + 2000);
    }
  };
  whole(-60_000);
  poll('2', 86_400_000);
  expect(lost()).toBeLessThan(32);
  expect(lost()).toBeGreaterThan(20);
  poll('1', 30_000);
  const before = lost();
  poll('3', 60_000);
  expect(lost()).toBe(before + 1);
});

/** 2026-11-25T21:48:10Z in microseconds, and a number that is no time at all. */
test.each([1_795_643_290_000_000, 1e17])('a time of %d ms, which no store takes, costs a book nothing else', (ms) => {
  const times: (string | null)[] = [];
  const sink: BookSink = {
    snapshot: (_ref, _book, exchangeAt) => void times.push(exchangeAt),
    change: (_ref, _changes, exchangeAt) => times.push(exchangeAt) > 0,
    gap: () => {},
    wanted: () => [],
  };
  const live = new LiveBooks(sink, systemClock);
  live.take({ ...book('A', bids(['0.4', '1'])), exchangeAtMs: ms }, source(1));
  const same = source(2);
  live.take({ ...book('A', bids(['0.4', '1'])), exchangeAtMs: 1_795_643_290_000 }, same);
  live.take({ ...change('A', bid('0.4', '2')), exchangeAtMs: ms }, same);
  expect(times).toEqual([null, '2026-11-25T21:48:10.000Z', null]);
});

test('a book keeps what its platform states of it', () => {
  const { live } = start();
  const adjustedMidpoint = parsePrice('0.205');
  live.take(book('A', { ...bids(['0.4', '1']), adjustedMidpoint }), source(1));
  expect(live.book('A')?.adjustedMidpoint).toBe(adjustedMidpoint);
});
