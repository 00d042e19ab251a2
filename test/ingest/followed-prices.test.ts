import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { FollowedPrices, type FollowedPricesDeps } from '../../ingest/live/followed-prices.ts';
import type { FollowedMarket } from '../../ingest/live/quote-publisher.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const follow = (...refs: string[]) =>
  new Map(refs.map((ref) => [ref, { market: { ref }, price: '0.1', volumeTotal: '1' } as FollowedMarket]));

/** A store whose reads take a second and a half, and whose values are those at their beginning. */
function start() {
  const state = { followed: follow('A', 'B'), isChoosing: false, price: '0.2', fails: false };
  const asked: string[] = [];
  const query = async (_name: string, _row: unknown, given: { platforms: string[]; refs: string[] }) => {
    const { price, fails } = state;
    const { platforms, refs } = given;
    asked.push(refs.join());
    await new Promise((resolve) => setTimeout(resolve, 1500));
    if (fails) throw new Error('the store is away');
    return refs.map((ref, i) => ({ of_platform: platforms[i], ref, price, volume_total: '2' }));
  };
  const reader = new FollowedPrices({
    clock: systemClock,
    clickhouse: { query } as unknown as FollowedPricesDeps['clickhouse'],
    log: pino({ level: 'silent' }),
  });
  const prices = reader.join('limitless', { followed: () => state.followed, isChoosing: () => state.isChoosing });
  const shown = () => [...state.followed.values()].map(({ price }) => price);
  return { state, asked, reader, prices, shown };
}

test('stored prices are read for followed markets alone, together, one read at a time and none lost', async () => {
  const { state, asked, prices, shown } = start();
  prices.stored(['A', 'X']);
  prices.stored(['B', 'A']);
  await vi.advanceTimersByTimeAsync(100);
  state.price = '0.3';
  prices.stored(['A']);
  await vi.advanceTimersByTimeAsync(1300);
  expect([asked, shown()]).toEqual([['A,B'], ['0.1', '0.1']]);
  await vi.advanceTimersByTimeAsync(4000);
  expect([asked, shown()]).toEqual([
    ['A,B', 'A'],
    ['0.3', '0.2'],
  ]);
  prices.stored(['X']);
  await vi.advanceTimersByTimeAsync(3000);
  expect(asked).toHaveLength(2);
});

test('a price read before a selection of markets does not replace that of the selection, and is read after it', async () => {
  const { state, asked, prices, shown } = start();
  prices.stored(['A']);
  await vi.advanceTimersByTimeAsync(100);
  state.price = '0.4';
  state.isChoosing = true;
  state.followed = follow('A');
  await vi.advanceTimersByTimeAsync(5000);
  expect([asked, shown()]).toEqual([['A'], ['0.1']]);
  state.isChoosing = false;
  await vi.advanceTimersByTimeAsync(3000);
  expect([asked, shown()]).toEqual([['A', 'A'], ['0.4']]);
});

test('a failed read leaves the prices as they are, and is repeated with what was stored since', async () => {
  const { state, asked, prices, shown } = start();
  state.fails = true;
  prices.stored(['A']);
  await vi.advanceTimersByTimeAsync(3000);
  expect(shown()).toEqual(['0.1', '0.1']);
  state.fails = false;
  prices.stored(['B']);
  await vi.advanceTimersByTimeAsync(6000);
  expect([asked.at(-1), shown()]).toEqual(['B,A', ['0.2', '0.2']]);
});

test('platforms share one read, each gets its own rows, and one that selects its markets waits for the next', async () => {
  const { state, asked, reader, prices, shown } = start();
  const other = { followed: follow('A', 'C'), isChoosing: false };
  const otherPrices = reader.join('kalshi', { followed: () => other.followed, isChoosing: () => other.isChoosing });
  prices.stored(['A']);
  otherPrices.stored(['C']);
  await vi.advanceTimersByTimeAsync(1600);
  expect(asked).toEqual(['A,C']);
  expect([shown(), other.followed.get('A')?.price, other.followed.get('C')?.price]).toEqual([
    ['0.2', '0.1'],
    '0.1',
    '0.2',
  ]);
  other.isChoosing = true;
  state.price = '0.3';
  prices.stored(['B']);
  otherPrices.stored(['A']);
  await vi.advanceTimersByTimeAsync(3000);
  expect([asked.slice(1), shown(), other.followed.get('A')?.price]).toEqual([['B'], ['0.2', '0.3'], '0.1']);
  other.isChoosing = false;
  otherPrices.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(2);
});
