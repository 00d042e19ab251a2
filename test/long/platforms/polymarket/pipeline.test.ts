import { expect, test } from 'vitest';
import { contractOf } from '../../../platforms/contract/contract.ts';

contractOf('polymarket', (stage) => {
  test('trades that are alike within a transaction are numbered, and each is stored', async () => {
    expect(
      stage()
        .truth.tradeIds()
        .some((id) => id.endsWith('.2')),
    ).toBe(true);
    expect(await stage().eventually(() => stage().strayTrades())).toEqual([]);
  });

  test('trades that are shown late, out of order, while pages shift, and of dust, are all served once', async () => {
    const { truth } = stage();
    const { world, clock } = truth;
    Object.assign(world.indexer, { delayMs: 1500, jitterMs: 1500 });
    world.drift.trades = 2;
    clock.run();
    const [dusty] = truth.tradingMarkets();
    // The least that any feed shows is 0.01 shares.
    for (const size of [5000n, 10_000n]) world.makeTrade(dusty!, undefined, size);
    await stage().live(100);
    Object.assign(world.indexer, { delayMs: 0, jitterMs: 0 });
    world.drift.trades = 0;
    clock.run();
    await clock.service.sleep(3000);
    clock.stop();
    expect(await stage().wrongAfterAll()).toEqual([]);
    expect(await stage().eventually(() => stage().wrongTrades())).toEqual([]);
  });
});
