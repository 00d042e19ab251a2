import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { PollHints } from '../../ingest/live/poll-hints.ts';

let hints: PollHints | undefined;
afterEach(() => {
  hints?.stop();
  vi.useRealTimers();
});

function start(options: { delaysMs?: number[]; gapMs?: number; everyMs?: number } = {}): string[] {
  vi.useFakeTimers();
  const read: string[] = [];
  hints = new PollHints({
    clock: systemClock,
    delaysMs: [0],
    gapMs: 1000,
    everyMs: 100,
    ...options,
    onDue: (key) => void read.push(key),
  });
  return read;
}
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test('hints of one market are one reading, the most hinted one comes first, and readings keep their distance', async () => {
  const read = start();
  for (const key of ['A', 'B', 'B', 'B', 'C', 'C']) hints!.add(key);
  await pass(60);
  expect(read).toEqual(['B']);
  await pass(100);
  expect(read).toEqual(['B', 'C']);
  await pass(100);
  expect(read).toEqual(['B', 'C', 'A']);
  hints!.add('B');
  await pass(500);
  expect(read).toHaveLength(3);
  await pass(500);
  expect(read).toEqual(['B', 'C', 'A', 'B']);
});

test('a market whose readings find nothing is read ever less often, and as before once one finds something', async () => {
  const read = start();
  const readingsIn = async (ms: number, rows: number): Promise<number> => {
    const before = read.length;
    for (let passed = 0; passed < ms; passed += 100) {
      hints!.add('A');
      const known = read.length;
      await pass(100);
      if (read.length > known) hints!.found('A', rows);
    }
    return read.length - before;
  };
  // At 0, 2, 6, 14 and 30 s.
  expect(await readingsIn(31_000, 0)).toBe(5);
  // The last one without rows waits 16 s, those that follow a second each: at 46, 47 … 61 s.
  expect(await readingsIn(30_000, 1)).toBe(16);
  expect(await readingsIn(10_000, 1)).toBeGreaterThan(8);
});

test('a feed that shows trades late is read again after each of its delays', async () => {
  const read = start({ delaysMs: [0, 3000, 8000], gapMs: 2000, everyMs: 250 });
  hints!.add('');
  await pass(100);
  expect(read).toHaveLength(1);
  await pass(3000);
  expect(read).toHaveLength(2);
  await pass(5000);
  expect(read).toHaveLength(3);
  await pass(20_000);
  expect(read).toHaveLength(3);
});

test('an idle feed is read at once, a busy one exactly as often as its gap allows', async () => {
  const read = start({ delaysMs: [0, 1000, 4000], gapMs: 100, everyMs: 0 });
  hints!.add('');
  await pass(1);
  expect(read).toHaveLength(1);
  for (let passed = 0; passed < 1000; passed += 5) {
    hints!.add('');
    await pass(5);
  }
  // At 100, 200 … 1000 ms.
  expect(read).toHaveLength(11);
  await pass(10_000);
  const after = read.length;
  await pass(60_000);
  expect(read).toHaveLength(after);
});
