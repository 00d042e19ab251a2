import { expect, test } from 'vitest';
import type { Stage } from './stage.ts';

export function syncTests(stage: () => Stage): void {
  test('after the first sync every market of every kind is served as it truly is', async () => {
    expect(await stage().eventually(() => stage().wrongMarkets(), 120)).toEqual([]);
    const { truth } = stage();
    const kinds = new Set(truth.kindsOf(await stage().markets('')));
    expect([...kinds].toSorted()).toEqual(truth.kinds.toSorted());
  });

  test('after the backfill every trade is served exactly once', async () => {
    expect(await stage().eventually(() => stage().strayTrades())).toEqual([]);
    expect(await stage().eventually(() => stage().wrongTrades(stage().truth.listed()))).toEqual([]);
  });
}

export function liveTests(stage: () => Stage): void {
  test('after live trading every market and trade is served as it truly is', async () => {
    await stage().live(200);
    expect(await stage().wrongAfterAll()).toEqual([]);
    expect(await stage().eventually(() => stage().wrongTrades())).toEqual([]);
  });
}
