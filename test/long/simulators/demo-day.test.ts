import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { PLATFORMS, type Platform } from '../../../src/core/model.ts';
import type { HourOfDemo } from '../../helpers/demo-day.ts';

/** It takes a quarter of a minute, on a busy machine minutes. */
vi.setConfig({ testTimeout: 600_000 });

const DAY = new URL('../../helpers/demo-day.ts', import.meta.url);
const MB = 2 ** 20;
/** Figures of 24 hours are made of states that are kept for a day: up to 1.1 MB more. One page of trades kept at each reading is 8. */
const GROWS_MB = 2;
const HOLDS_MB = 25;

/** What a platform of the demo keeps after each hour of a day. */
async function dayOf(platform: Platform): Promise<HourOfDemo[]> {
  const child = fork(DAY, [platform], { execArgv: ['--expose-gc', '--max-semi-space-size=64', '--import', 'tsx'] });
  const hours: HourOfDemo[] = [];
  child.on('message', (hour) => void hours.push(hour as HourOfDemo));
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  return hours;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

test('the platforms of the demo keep no more in the second half of a day of trading than at its noon', async () => {
  const days = await Promise.all(PLATFORMS.map(dayOf));
  for (const [index, platform] of PLATFORMS.entries()) {
    const hours = days[index] ?? [];
    expect(hours).toHaveLength(24);
    const mbOf = (from: number, to: number): number => mean(hours.slice(from, to).map(({ bytes }) => bytes / MB));
    const [start, noon, evening] = [mbOf(0, 1), mbOf(12, 16), mbOf(20, 24)];
    const second = hours.slice(12);
    expect({
      platform,
      isFlat: evening - noon < GROWS_MB,
      isSmall: evening - start < HOLDS_MB,
      trades: spread(second.map(({ trades }) => trades)),
      // Markets come and go one by one, quotes with trades.
      hasSameMarkets: spread(second.map(({ markets }) => markets)) <= 10,
      hasSameQuotes: spread(second.map(({ quotes }) => quotes)) <= 0.1 * (second[0]?.quotes ?? 0),
      measured: { start, noon, evening },
    }).toEqual({
      platform,
      isFlat: true,
      isSmall: true,
      trades: 0,
      hasSameMarkets: true,
      hasSameQuotes: true,
      measured: expect.anything(),
    });
  }
});
