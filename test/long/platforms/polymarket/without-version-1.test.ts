import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { clockBehind, passes } from '../../../helpers/flowing-clock.ts';
import { StoppableClock } from '../../../oracle/clock.ts';
import {
  eventually,
  largePage,
  ofEach,
  type Pipeline,
  type ServedMarket,
  startPipeline,
} from '../../../oracle/pipeline.ts';
import { identified, openInterestOf, polymarketMarket, polymarketTrades } from '../../../oracle/polymarket.ts';
import { type Difference, differences, outcomeIdsOf } from '../../../oracle/vocabulary.ts';
import { startPolymarket } from '../../../simulators/polymarket.ts';
import type { SimMarket, SimWallet } from '../../../simulators/polymarket/world/model.ts';
import { ONE, priceNumber, toFourDecimals, sizeNumber } from '../../../simulators/polymarket/world/units.ts';
import type { PolymarketWorld } from '../../../simulators/polymarket/world/world.ts';
import type { Simulator } from '../../../simulators/simulator.ts';

vi.setConfig({ testTimeout: 240_000 });

interface ProfileAnswer {
  trades: Record<string, unknown>[];
  positions: Record<string, unknown>[];
  pagination: { total: number };
  meta: { total_is_exact: boolean; smallest_size: number | null };
}

/** Fills of less are in no list of the platform. */
const LEAST_FILL = 10_000n;

const isTrading = (market: SimMarket): boolean =>
  market.state === 'open' && market.tokenIds.length === 2 && market.volume > 0n;

describe('with version 1 of the Data API off from the start, through the cache', () => {
  const time = clockBehind();
  const clock = new StoppableClock(time);
  let sim: Simulator<PolymarketWorld>;
  let world: PolymarketWorld;
  let service: Pipeline;
  let archived: SimMarket;
  let dusty: SimMarket;
  /** Who took the smallest trade that is shown. */
  let user: SimWallet;

  beforeAll(async () => {
    sim = await startPolymarket({ seed: 23, clock, markets: 40, tradesPerMarket: 20, historyDays: 12 });
    sim.enforceLimits = false;
    ({ world } = sim);
    Object.assign(world.dataApi, { v1: 410, cdn: true });
    archived = world.markets.find((market) => market.archived)!;
    dusty = world.markets.find((market) => isTrading(market) && market.index > 20)!;
    user = world.makeTrade(dusty, undefined, LEAST_FILL)!.wallet;
    world.makeTrade(dusty, undefined, LEAST_FILL / 2n);
    world.giveShares(user, archived, 7_000_000n);
    const unheld = world.markets.find((market) => isTrading(market) && world.held(user, market, 0) === 0n)!;
    world.giveShares(user, unheld, 50_000n);
    service = await startPipeline([sim], ['polymarket'], { clock: time, everySeconds: 5 });
  });
  afterAll(async () => {
    await service?.close();
    await sim?.close();
  });

  /** What the service may know: lists hide archived markets, which have to be asked for. */
  const known = (): SimMarket[] => world.markets.filter((market) => market.tokenIds.length > 0);
  const profile = (name: 'trades' | 'positions', of = user) =>
    service.get<ProfileAnswer>(`profile/${name}?provider=polymarket&user=${of.address}&limit=${largePage()}`);
  /** Whether a bet on several markets at once is among the wallet's fills: it is of no market, and not served. */
  const hasCombo = (of: SimWallet): boolean =>
    world.trades().some(({ index, wallet }) => wallet === of && index % 125 === 60);

  test('every trade of every market is served once, field by field', async () => {
    await service.get(`markets/id/${archived.id}?provider=polymarket`);
    const wrong = () =>
      ofEach(known(), async (market): Promise<Difference[]> => {
        const { rows } = await service.trades(`provider=polymarket&market_id=${market.id}`, 500 + largePage());
        return differences(market.id, { rows }, { rows: polymarketTrades(world, market) });
      });
    expect(await eventually(wrong, 120, time)).toEqual([]);
  });

  test('open interest of every market that trades is served', async () => {
    const trading = world.markets.filter(isTrading);
    const wrong = () =>
      ofEach(trading, async (market): Promise<Difference[]> => {
        const { markets } = await service.get<{ markets: ServedMarket[] }>(
          `markets/id/${market.id}?provider=polymarket`,
        );
        const [served] = markets;
        return differences(market.id, { oi: served?.open_interest }, { oi: openInterestOf(market) });
      });
    expect(await eventually(wrong, 150, time)).toEqual([]);
  });

  const fillsOf = (of: SimWallet) =>
    known().flatMap((market) => {
      const mine = world.trades(market).flatMap((trade) => {
        const parts = [trade, ...trade.fills.map((fill) => ({ ...trade, ...fill }))];
        return parts.filter(({ wallet, size }) => wallet === of && size >= LEAST_FILL);
      });
      return identified(market, mine).map(({ id, trade }) => ({
        platform: 'polymarket',
        trade_id: id,
        user_id: of.address,
        market_id: market.id,
        ticker: market.slug,
        title: market.question,
        side: trade.side.toLowerCase(),
        outcome: outcomeIdsOf(market.outcomes)[trade.outcome],
        label: market.outcomes[trade.outcome],
        price: priceNumber(trade.price),
        size: sizeNumber(trade.size),
        timestamp: new Date(trade.timestamp * 1000).toISOString(),
        metadata: expect.objectContaining({
          token_id: market.tokenIds[trade.outcome],
          condition_id: market.conditionId,
          transaction_hash: trade.transactionHash,
        }),
      }));
    });

  test('every fill of a user is served, the smallest too; the list is called complete only where nothing is left out', async () => {
    expect(fillsOf(user).some(({ size }) => size === 0.01)).toBe(true);
    const traders = world.wallets.filter((one) => fillsOf(one).length > 0);
    const [whole, partial] = [traders.find((one) => !hasCombo(one))!, traders.find(hasCombo)!];
    for (const of of [user, whole, partial]) {
      const truth = fillsOf(of);
      const { trades, pagination, meta } = await profile('trades', of);
      expect(byId(trades, 'trade_id')).toEqual(byId(truth, 'trade_id'));
      expect([pagination.total, meta.total_is_exact, meta.smallest_size]).toEqual([truth.length, !hasCombo(of), 0.01]);
    }
  });

  const held = () =>
    known().flatMap((market) =>
      ([0, 1] as const).flatMap((outcome) => {
        const size = toFourDecimals(world.held(user, market, outcome), 6);
        if (size === 0n) return [];
        const nowMs = clock.now();
        const { status } = polymarketMarket(world, market, { syncedMs: nowMs, worldMs: nowMs }, null);
        const winner = status === 'settled' ? (market.payouts ?? []).indexOf(ONE) : -1;
        return [
          {
            platform: 'polymarket',
            token_id: market.tokenIds[outcome],
            market_id: market.id,
            title: market.question,
            label: market.outcomes[outcome],
            market_status: status,
            winning_outcome: market.outcomes[winner] ?? '',
            shares: Number(size),
            shares_normalized: sizeNumber(size),
            redeemable: market.payouts !== null,
          },
        ];
      }),
    );

  test('every position is served, those of archived markets and of dust too, and the list says that it is complete', async () => {
    const truth = held();
    expect(truth.some(({ market_id: id }) => id === archived.id)).toBe(true);
    expect(truth.some(({ shares_normalized: size }) => size < 0.1)).toBe(true);
    const { positions, pagination, meta } = await profile('positions');
    expect(byId(positions.map(counted), 'token_id')).toEqual(byId(truth, 'token_id'));
    expect([pagination.total, meta.total_is_exact, meta.smallest_size]).toEqual([truth.length, true, null]);
  });

  test('where the platform hides dust whatever is asked for, the list says what is left out', async () => {
    world.dataApi.hidesDust = true;
    await passes(
      time,
      async () => {
        const { positions, meta } = await profile('positions');
        const truth = held().filter((row) => row.shares_normalized >= 0.1);
        expect(byId(positions.map(counted), 'token_id')).toEqual(byId(truth, 'token_id'));
        expect(meta.smallest_size).toBe(0.1);
      },
      60_000,
      1000,
    );
    world.dataApi.hidesDust = false;
  });

  test('nothing was asked of version 1', () => {
    const asked = [...sim.requests.keys()].filter((line) => line.includes('/data/'));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((line) => !line.includes('/data/v2/'))).toEqual([]);
  });
});

/** What only the platform states of a position. */
const STATED: ReadonlySet<string> = new Set(['average_price', 'current_price', 'value_usd', 'pnl_usd']);
const counted = (position: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(position).filter(([name]) => !STATED.has(name)));

const byId = (rows: readonly Record<string, unknown>[], key: string) =>
  rows.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));
