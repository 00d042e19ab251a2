import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { AnnouncedBook } from '../../src/books/announcer.ts';
import { BookRecorder } from '../../src/books/recorder.ts';
import { MOST_WAITING } from '../../src/books/writer.ts';
import { parsePrice, parseSize } from '../../src/core/decimal.ts';
import type { BookChange, BookSide } from '../../src/core/model.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const PLATFORM = 'kalshi';
/** Changes after which a snapshot is due. */
const SNAPSHOT_CHANGES = 1000;

const at = '2026-11-26T00:00:00.000Z';
const level = (size: string) => ({ price: parsePrice('0.4'), size: parseSize(size) });
const bid = (size: string): BookSide => ({ bids: [level(size)], asks: [] });

/** A recorder of the markets A, B and C, whose store accepts no rows. */
async function recorderWithoutStore() {
  const clock = virtualClock();
  const announced: AnnouncedBook[] = [];
  const clickhouse = {
    query: async () => [],
    async insert(into: string) {
      if (!into.startsWith('log_epochs')) throw new Error('the store is away');
    },
  } as unknown as ClickHouse;
  const log = pino({ level: 'silent' });
  const recorder = new BookRecorder({
    clock,
    clickhouse,
    log,
    platform: PLATFORM,
    announce: (m) => announced.push(m),
  });
  await recorder.open({ remainingMs: () => 60_000 } as never);
  recorder.want(['A', 'B', 'C'].map((ref) => ({ platform: PLATFORM, ref, outcomes: [{ id: 'yes' }] }) as StoredMarket));
  for (const ref of ['A', 'B']) recorder.snapshot(ref, bid('1'), at, at);
  // The rows so far leave with an attempt that fails, and a snapshot of B is due.
  await clock.advance(60_000);
  /** Lets this many rows wait: changes of A, and a snapshot with its depth after every thousand. */
  const fill = (count: number): void => {
    recorder.change('A', [], null, at);
    for (let rows = 2; rows < count;) {
      const changes = Math.min(SNAPSHOT_CHANGES, count - rows);
      const levels = Array.from({ length: changes }, (_, n): BookChange => ({
        side: 'bid',
        ...level(n % 2 ? '2' : '3'),
      }));
      recorder.change('A', levels, null, at);
      rows += changes === SNAPSHOT_CHANGES ? changes + 2 : changes;
    }
    announced.splice(0);
  };
  return { recorder, announced, fill };
}

test.each([
  ['a change', MOST_WAITING, 'A'],
  ['a snapshot', MOST_WAITING, 'B'],
  ['the depth of a snapshot', MOST_WAITING - 1, 'B'],
  ['a first book', MOST_WAITING, 'C'],
])('if %s is a row too many, every known book becomes a gap and recording goes on', async (_row, rows, ref) => {
  const { recorder, announced, fill } = await recorderWithoutStore();
  fill(rows);
  if (ref === 'C') recorder.snapshot(ref, bid('1'), at, at);
  else recorder.change(ref, ref === 'A' ? [{ side: 'bid', ...level('9') }] : [], null, at);
  const known = ref === 'C' ? ['A', 'B', 'C'] : ['A', 'B'];
  expect(announced.map((message) => [message.ref, message.gap?.reason])).toEqual(
    known.map((each) => [each, 'the store accepted no rows']),
  );
  expect(known.map((each) => recorder.book(each))).toEqual(known.map(() => null));
  announced.splice(0);
  for (const each of known) {
    expect(recorder.change(each, [], null, at)).toBe(false);
    recorder.snapshot(each, bid('4'), at, at);
  }
  expect(announced.map((message) => [message.ref, message.begins, message.ends_gap?.reason])).toEqual(
    known.map((each) => [each, true, 'the store accepted no rows']),
  );
});

test('if a polled book has a row too many, it becomes a gap and the next poll begins it anew', async () => {
  const { recorder, announced, fill } = await recorderWithoutStore();
  fill(MOST_WAITING);
  recorder.polled('A', { yes: bid('99'), exchangeAt: null }, at, Infinity);
  expect(announced.map(({ ref, gap }) => [ref, gap?.reason])).toEqual([
    ['A', 'the store accepted no rows'],
    ['B', 'the store accepted no rows'],
  ]);
  expect(recorder.book('A')).toBeNull();
});
