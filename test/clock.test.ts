import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemClock } from '../src/core/time.ts';
import { settle, virtualClock } from './helpers/virtual-clock.ts';

test('timers run in the order of their moments, those of one moment as they were set', async () => {
  const clock = virtualClock(1000);
  const seen: string[] = [];
  const note = (name: string) => (): void => void seen.push(`${name} ${clock.now()}`);
  clock.timeout(20, note('late'));
  clock.timeout(10, note('a'));
  clock.timeout(10, note('b'));
  clock.timeout(0, note('soon'));
  clock.timeout(21, note('later'));
  await clock.advance(20);
  expect(seen).toEqual(['soon 1001', 'a 1010', 'b 1010', 'late 1020']);
  expect([clock.now(), clock.elapsed(), clock.waiting]).toEqual([1020, 20, 1]);
});

test('a timer that was stopped does not run', async () => {
  const clock = virtualClock();
  let runs = 0;
  const count = (): void => void (runs += 1);
  clock.timeout(5, count)();
  const stop = clock.every(5, count);
  await clock.advance(12);
  stop();
  stop();
  await clock.advance(100);
  expect([runs, clock.waiting]).toEqual([2, 0]);
});

test('what a timer sets off settles before the next timer runs', async () => {
  const clock = virtualClock(0);
  const seen: number[] = [];
  const chain = async (): Promise<void> => {
    for (let step = 0; step < 3; step += 1) {
      await clock.sleep(10);
      await settle(2);
      seen.push(clock.now());
    }
  };
  const chained = chain();
  clock.timeout(15, () => void seen.push(clock.now()));
  await clock.advance(30);
  await chained;
  expect(seen).toEqual([10, 15, 20, 30]);
});

test('a period does not begin again while its task runs', async () => {
  const clock = virtualClock();
  let [running, most, runs] = [0, 0, 0];
  const stop = clock.every(10, async () => {
    runs += 1;
    running += 1;
    most = Math.max(most, running);
    await clock.sleep(25);
    running -= 1;
  });
  await clock.advance(100);
  stop();
  expect([runs, most]).toEqual([4, 1]);
});

test('a correction of the time of day changes no duration', async () => {
  const clock = virtualClock(0);
  clock.correct(86_400_000);
  expect([clock.now(), clock.elapsed()]).toEqual([86_400_000, 0]);
});

const virtual = virtualClock();
for (const [name, clock, pass] of [
  ['system', systemClock, () => systemClock.sleep(20)],
  ['virtual', virtual, () => virtual.advance(20)],
] as const) {
  test(`a sleep of the ${name} clock ends with its time, or with its signal`, async () => {
    const startedAt = clock.elapsed();
    const slept = clock.sleep(10);
    const controller = new AbortController();
    const cut = expect(clock.sleep(60_000, controller.signal)).rejects.toThrow('enough');
    controller.abort(new Error('enough'));
    await cut;
    await expect(clock.sleep(60_000, controller.signal)).rejects.toThrow('enough');
    await pass();
    await slept;
    expect(clock.elapsed() - startedAt).toBeGreaterThanOrEqual(9);
  });

  test(`a deadline of the ${name} clock aborts with a TimeoutError`, async () => {
    const signal = clock.deadline(10);
    expect(signal.aborted).toBe(false);
    await pass();
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });
}

const ROOT = new URL('..', import.meta.url).pathname;
const TIME =
  /\b(?:setTimeout|setInterval|clearTimeout|clearInterval)\(|timers\/promises|\bDate\.now\b|\bperformance\.now\b|new Date\(\)|AbortSignal\.timeout|\bhrtime\b/;
/** The clock itself, and the process of the engine, which is no module of the service. */
const OWN = new Set(['src/core/time.ts', 'src/embedded/clickhouse/engine.cjs']);

test('src and ingest read the time and wait by the clock alone; what runs in browsers has none', () => {
  const files = ['src', 'ingest'].flatMap((top) =>
    readdirSync(ROOT + top, { recursive: true, encoding: 'utf8' })
      .map((name) => `${top}/${name}`)
      .filter((name) => /\.(ts|mjs|cjs)$/.test(name) && !name.startsWith('src/explorer/') && !OWN.has(name)),
  );
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((name) =>
    readFileSync(ROOT + name, 'utf8')
      .split('\n')
      .flatMap((line, at) => (TIME.test(line) ? [`${name}:${at + 1} ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});

test('time that flows goes from timer to timer, stands still while something is at work, and until it is stopped', async () => {
  const clock = virtualClock(0);
  let works = true;
  const stop = clock.flow(() => works);
  const woken: number[] = [];
  const slept = [30, 10, 20].map(async (minutes) => {
    await clock.sleep(minutes * 60_000);
    woken.push(clock.now() / 60_000);
  });
  await settle(500);
  expect(clock.now()).toBe(0);
  works = false;
  await Promise.all(slept);
  expect(woken).toEqual([10, 20, 30]);
  stop();
  clock.timeout(1000, () => woken.push(0));
  await settle(500);
  expect([clock.now() / 60_000, woken.length]).toEqual([30, 3]);
});
