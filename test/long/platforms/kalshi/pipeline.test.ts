import { expect, test } from 'vitest';
import { contractOf } from '../../../platforms/contract/contract.ts';

contractOf('kalshi', (stage) => {
  /** The world has one such market: who tries again looks for the same. */
  let forgotten: string | undefined;

  test('a provisional market that Kalshi drops is dropped here', async () => {
    const { truth, service } = stage();
    if (forgotten === undefined) {
      const { ticker } = truth.oneOf(({ spec, status }) => spec.provisional && status === 'active');
      await stage().market(ticker);
      truth.world.close(ticker);
      forgotten = ticker;
    }
    expect(await stage().eventually(() => stage().wrongMarkets())).toEqual([]);
    const path = `markets/id/${forgotten}?provider=kalshi&include_raw=true`;
    const served = () =>
      service.get(path, 404).then(
        () => [],
        (error: Error) => [error.message],
      );
    expect(await stage().eventually(served)).toEqual([]);
  });

  test('combinations that trade are listed with their legs when asked for, and equal the truth', async () => {
    const { truth } = stage();
    const wrong = async () => {
      const rows = await stage().markets('sort=created&include_combos=true');
      const served = new Map(rows.map((row) => [row.platform_id, row]));
      return truth.combos().flatMap((ticker) => truth.wrongFields(ticker, served.get(ticker)));
    };
    expect(truth.combos().length).toBeGreaterThan(1);
    expect(await stage().eventually(wrong)).toEqual([]);
  });

  test('a market that does not trade has its image as soon as it is requested, and keeps it', async () => {
    const { truth } = stage();
    const asked = (event: string) =>
      [...truth.sim.requests].filter(([request]) => request.includes(`/events/${event}/metadata`));
    const { ticker, spec } = truth.oneOf(
      (market) => market.status === 'finalized' && asked(market.spec.eventTicker).length === 0,
    );
    const image_url = `https://images.example.com/${spec.eventTicker}.webp`;
    expect(await stage().market(ticker, '&include_raw=true')).toMatchObject({ image_url });
    const listed = await stage().markets(`event_id=${spec.eventTicker}`);
    expect(listed.map((row) => row.image_url)).toEqual(listed.map(() => image_url));
    expect(asked(spec.eventTicker).map(([, times]) => times)).toEqual([1]);
  });

  test('every print of Kalshi is its taker: takerOnly changes nothing', async () => {
    const { truth, service } = stage();
    const [ticker] = truth.trading();
    const of = (takerOnly: boolean) =>
      service.get<{ trades: object[] }>(`markets/trades?provider=kalshi&market_id=${ticker}&takerOnly=${takerOnly}`);
    const { trades } = await of(false);
    expect(trades.length).toBeGreaterThan(0);
    expect((await of(true)).trades).toEqual(trades);
  });
});
