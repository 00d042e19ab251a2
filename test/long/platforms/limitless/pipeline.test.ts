import { expect, test } from 'vitest';
import { limitlessTrades } from '../../../oracle/limitless.ts';
import type { ClobMarket } from '../../../simulators/limitless/model.ts';
import { contractOf } from '../../../platforms/contract/contract.ts';

contractOf('limitless', (stage) => {
  test('trades that a transaction shares, or that are alike in all but their place, are all there once', async () => {
    const { truth } = stage();
    const trades = truth.clobs().flatMap((market) => limitlessTrades(truth.world, market));
    const hashes = trades.map(({ transaction_hash: hash }) => hash);
    expect(new Set(hashes).size).toBeLessThan(hashes.length);
    const rows = trades.map(({ trade_id: _id, ...row }) => JSON.stringify(row));
    expect(new Set(rows).size).toBeLessThan(rows.length);
    expect(await stage().eventually(() => stage().wrongTrades())).toEqual([]);
  });

  test('trades of one market are not listed by themselves', async () => {
    await stage().service.get(`markets/trades?provider=limitless&market_id=${stage().truth.trading()[0]}`, 400);
  });

  // Caches answer with an older page for up to 60 s, so a market is read a second time only after that.
  test('a trade that is listed seconds after it moved the volume is not lost', { timeout: 240_000 }, async () => {
    const { world, clock } = stage().truth;
    world.minedDelayMs = 2500;
    clock.run();
    stage().trade(25);
    await clock.service.sleep(3000);
    clock.stop();
    world.minedDelayMs = 0;
    expect(await stage().eventually(() => stage().wrongTrades(), 120)).toEqual([]);
    expect(await stage().wrongAfterAll()).toEqual([]);
    expect(await stage().eventually(() => stage().wrongTrades())).toEqual([]);
  });

  let wordy: ClobMarket | undefined;
  const createWordy = (): ClobMarket => {
    const { truth } = stage();
    // Its number is none of a clock or a calendar, which other titles contain.
    const title = '“Brightwell” named café of the year, 7041°C…';
    wordy ??= truth.world.createMarket({ title, expiresAt: stage().truth.clock.service.now() + 9e8 });
    truth.listed();
    return wordy;
  };

  test('listing pages that shift while they are read lose nothing', async () => {
    const { truth } = stage();
    truth.clock.run();
    for (let i = 0; i < 12; i++) {
      truth.world.createMarket({
        title: `Shifted in at ${i}?`,
        expiresAt: stage().truth.clock.service.now() + 9 * 86_400_000,
      });
      truth.listed();
      await stage().truth.clock.service.sleep(150);
    }
    createWordy();
    truth.clock.stop();
    expect(await stage().eventually(() => stage().wrongMarkets())).toEqual([]);
  });

  test('words are found whatever stands beside them', async () => {
    const { slug } = createWordy();
    expect(await stage().eventually(() => stage().wrongMarkets())).toEqual([]);
    for (const query of ['brightwell', '“BRIGHTWELL”', 'café', 'CAFÉ named', '7041', '7041°c', 'brightwell… year?']) {
      const rows = await stage().markets(`query=${encodeURIComponent(query)}`);
      expect([query, ...rows.map((row) => row.platform_id)]).toEqual([query, slug]);
    }
    expect(await stage().markets('query=%3F%21')).toEqual([]);
  });

  test('a market whose trades cannot be read keeps no other waiting, and /health names it', async () => {
    const { truth, service } = stage();
    const [slug] = truth.trading().toReversed();
    const events = new RegExp(`/markets/${slug}/events`);
    truth.sim.inject({
      match: events,
      times: 99,
      kind: 'status',
      status: 400,
      body: '{"message":"broken on purpose"}',
    });
    truth.clock.run();
    truth.world.tradeOn(slug!, { outcome: 0, side: 'BUY', limitTick: 999, want: { shares: 3_000_000n } });
    stage().trade(20);
    truth.clock.stop();
    expect(await stage().eventually(() => service.unlessIll('limitless', /broken on purpose/))).toEqual([]);
    const others = async () => (await stage().wrongTrades()).filter(({ id }) => id !== 'all');
    expect(await stage().eventually(others)).toEqual([]);
    truth.sim.clearFaults();
    expect(await stage().eventually(() => stage().wrongTrades())).toEqual([]);
  });
});
