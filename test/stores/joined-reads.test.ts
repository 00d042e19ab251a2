import { expect, test } from 'vitest';
import { marketKey } from '../../src/core/market-key.ts';
import { JoinedReads } from '../../src/stores/clickhouse/joined-reads.ts';
import { MAX_WAITING } from '../../src/stores/clickhouse/lanes.ts';
import type { QueryParams } from '../../src/stores/clickhouse/named-statements.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const HOUR = 3600;
const asked = (ref: string, startHour = 0, endHour = 24) => ({
  platform: 'kalshi' as const,
  ref,
  step: HOUR,
  start: startHour * HOUR,
  end: endHour * HOUR,
});
const keys = (...refs: string[]) => refs.map((ref) => BigInt(marketKey({ platform: 'kalshi', ref })));

type Rows = { key: string; t: number }[];
/** A statement that runs until it is answered with hours of markets, or fails. */
interface Statement {
  params: QueryParams;
  answer(hours: Record<string, number[]>): void;
  fail(error: Error): void;
}

const rowsOf = (ref: string, hours: number[]): Rows => {
  const key = marketKey({ platform: 'kalshi', ref });
  return hours.map((hour) => ({ key, t: hour * HOUR }));
};

const TIMEOUT_MS = 30_000;

function rig() {
  const clock = virtualClock();
  const reads = new JoinedReads(clock, TIMEOUT_MS);
  const statements: Statement[] = [];
  const run = async (params: QueryParams): Promise<Rows> => {
    const hours = await new Promise<Record<string, number[]>>((answer, fail) =>
      statements.push({ params, answer, fail }),
    );
    return Object.entries(hours).flatMap(([ref, all]) => rowsOf(ref, all));
  };
  const read = async (params: QueryParams): Promise<number[]> =>
    (await reads.read('bars_of_quotes', params, run)).map(({ t }) => Number(t) / HOUR);
  return { statements, read, clock };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a look-up runs at once; those that come while it runs are one statement, of which each has its own rows', async () => {
  const { statements, read } = rig();
  const first = read(asked('A'));
  const others = [read(asked('B', 2, 4)), read(asked('C')), read(asked('B', 3, 30))];
  expect(statements.map(({ params }) => params.keys)).toEqual([keys('A')]);
  statements[0]!.answer({ A: [1, 2] });
  expect(await first).toEqual([1, 2]);
  await turn();
  expect(statements).toHaveLength(2);
  expect(statements[1]!.params).toEqual({ keys: keys('B', 'C'), step: HOUR, start: 0, end: 30 * HOUR });
  statements[1]!.answer({ B: [1, 2, 3, 4, 29], C: [5, 24] });
  expect(await Promise.all(others)).toEqual([[2, 3], [5], [3, 4, 29]]);
});

test('look-ups of other buckets, or of ranges far away or much wider, wait for none and are read apart', async () => {
  const { statements, read } = rig();
  void read(asked('A'));
  void read({ ...asked('B'), step: 60 });
  void read(asked('B', 5000, 5024));
  void read(asked('B', 0, 5000));
  expect(statements.map(({ params }) => [params.keys, params.start, params.end])).toEqual([
    [keys('A'), 0, 24 * HOUR],
    [keys('B'), 0, 24 * HOUR],
    [keys('B'), 5000 * HOUR, 5024 * HOUR],
    [keys('B'), 0, 5000 * HOUR],
  ]);
});

test('a statement that fails fails for its callers, and the next one runs', async () => {
  const { statements, read } = rig();
  const first = read(asked('A'));
  const second = read(asked('B'));
  statements[0]!.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await turn();
  statements[1]!.answer({ B: [3] });
  expect(await second).toEqual([3]);
});

test('a caller behind as many as may wait is refused at once', async () => {
  const { read } = rig();
  for (let n = 0; n <= MAX_WAITING; n += 1) void read(asked(`M${n}`));
  await expect(read(asked('LAST'))).rejects.toMatchObject({ name: 'StoreError', kind: 'busy' });
});

test('a statement for several callers reads 20,000 buckets at most, whatever number of them waits', async () => {
  const { statements, read } = rig();
  void read(asked('FIRST', 0, 5000));
  const waiting = Array.from({ length: 6 }, (_, n) => read(asked(`M${n}`, 0, 5000)));
  for (let n = 0; n < 3; n += 1) {
    statements[n]!.answer({});
    await turn();
  }
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 6 }, () => []));
  expect(statements.map(({ params }) => params.keys)).toEqual([
    keys('FIRST'),
    keys('M0', 'M1', 'M2', 'M3'),
    keys('M4', 'M5'),
  ]);
});

test('a caller waits no longer than one read may take, however many statements hang before its own', async () => {
  const { statements, read, clock } = rig();
  const first = read(asked('A')).catch((error: unknown) => error);
  await clock.advance(TIMEOUT_MS - 1000);
  const second = read(asked('B')).catch((error: unknown) => error);
  await clock.advance(1000);
  expect(await first).toMatchObject({ name: 'StoreError', kind: 'timeout' });
  await clock.advance(TIMEOUT_MS - 1000);
  expect(await second).toMatchObject({ name: 'StoreError', kind: 'timeout' });
  const third = read(asked('C'));
  statements[0]!.fail(new Error('gone'));
  await turn();
  expect(statements[1]!.params.keys).toEqual(keys('C'));
  statements[1]!.answer({ C: [7] });
  expect(await third).toEqual([7]);
  expect(clock.waiting).toBe(0);
});
