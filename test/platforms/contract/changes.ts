import { expect, test } from 'vitest';
import type { PlatformTruth } from './truth.ts';
import type { Stage } from './stage.ts';

export function changeTests(stage: () => Stage): void {
  /** There are not enough markets to do it twice: who tries again looks at the same. */
  let changed: ReturnType<PlatformTruth['changeSome']> | undefined;

  test('what becomes of markets shows: pauses, ends, results, payouts of every kind, new listings', async () => {
    const { truth } = stage();
    truth.clock.run();
    changed ??= truth.changeSome();
    truth.listed();
    truth.clock.stop();
    expect(await stage().wrongAfterAll()).toEqual([]);
    for (const { id, prices } of changed) {
      const quotes = Object.values((await stage().market(id)).current_prices);
      expect([id, ...quotes]).toEqual([id, ...prices.map((price) => ({ price, bid: null, ask: null }))]);
    }
  });
}
