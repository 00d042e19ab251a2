import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import type { MarketState } from '../../src/core/model.ts';
import type { CalibrationAnswer } from '../../src/schemas/calibration.ts';
import { market, type MarketStore, quotes, startMarketStore, trade } from '../helpers/market-store.ts';

type Calibration = z.output<typeof CalibrationAnswer>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Off the hour and the second, so that the hour of an instant is read too. */
const close = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS - 12_345_678;
const iso = (ms: number): string => new Date(ms).toISOString();
let store: MarketStore;

/** A market that paid `payout` (null: not reported) and stopped trading at `close`, a day before it was settled. */
const settled = (ref: string, payout: string | null, rest: Partial<Parameters<typeof market>[0]> = {}) =>
  market({
    ref,
    platform: 'kalshi',
    tradingEndAt: iso(close),
    ...rest,
    state: {
      status: 'settled',
      resolvedAt: iso(close + DAY_MS),
      quotes: payout === null ? market({ ref, platform: 'kalshi' }).state.quotes : quotes(payout),
      ...rest.state,
    } satisfies Partial<MarketState>,
  });

const calibration = (query: string) => store.get<Calibration>(`analytics/calibration?${query}`);
/** Bins with markets: number of the bin, markets, came true, mean price. */
const filledBins = ({ calibration: bins }: Calibration) =>
  bins.flatMap(({ markets, came_true: cameTrue, mean_price: price }, at) =>
    markets === 0 ? [] : [[at, markets, cameTrue, price]],
  );

beforeAll(async () => {
  store = await startMarketStore();
  const yes = settled('KX-YES', '1');
  const no = settled('KX-NO', '0', { category: 'Politics' });
  const edge = settled('KX-EDGE', '1', { tradingEndAt: null, state: { resolvedAt: iso(close) } });
  const early = settled('KX-EARLY', '0', { tradingEndAt: iso(close + 99 * DAY_MS), state: { resolvedAt: iso(close) } });
  const quoted = settled('KX-QUOTED', '1');
  const late = settled('KX-LATE', '1');
  const half = settled('KX-HALF', '0.5');
  const unpaid = settled('KX-UNPAID', null);
  const endless = settled('KX-ENDLESS', '1', { tradingEndAt: null, state: { resolvedAt: null } });
  // Its stated end is to come, and nobody says when it was settled.
  const future = settled('KX-FUTURE', '1', { tradingEndAt: iso(close + 99 * DAY_MS), state: { resolvedAt: null } });
  const other = settled('pm', '0', { platform: 'polymarket' });
  const asQuoted = (ref: string, atMs: number, price: string) =>
    market({ ref, platform: 'kalshi', fetchedAt: iso(atMs), state: { quotes: quotes(price) } });
  await store.list(asQuoted('KX-QUOTED', close - 2 * HOUR_MS, '0.3'), asQuoted('KX-YES', close - HOUR_MS - 1, '0.1'));
  await store.list(asQuoted('KX-QUOTED', close - HOUR_MS + 1, '0.9'), asQuoted('KX-LATE', close - HOUR_MS + 1, '0.9'));
  await store.list(yes, no, edge, early, quoted, late, half, unpaid, endless, future, other);
  await store.list(market({ ref: 'KX-OPEN', platform: 'kalshi', tradingEndAt: iso(close) }));
  const at = (of: typeof yes, beforeMs: number, price: string, rest: object = {}) =>
    trade({ of, atMs: close - beforeMs, price, size: '1', ...rest });
  await store.trade(
    // The hour of the instant, and what comes after it by a microsecond.
    at(yes, 3 * HOUR_MS, '0.5'),
    at(yes, HOUR_MS + 5, '0.65'),
    at(yes, HOUR_MS - 0.001, '0.99'),
    at(yes, HOUR_MS + 1, '0.01', { isBlockTrade: true }),
    // No's price of a trade of the hours before, the last of them.
    at(no, 30 * HOUR_MS, '0.2'),
    at(no, 26 * HOUR_MS, '0.7', { outcome: 'no' }),
    // On an edge, at the instant itself.
    at(edge, HOUR_MS, '0.7'),
    at(early, 8 * DAY_MS, '1'),
    at(late, HOUR_MS - 1, '0.9'),
    ...[half, unpaid, endless, future].map((one) => at(one, 5 * HOUR_MS, '0.5')),
    at(other, 2 * HOUR_MS, '0.123456789'),
  );
});
afterAll(() => store?.close());

test('each settled market counts once, at its last price known at the horizon, and those that cannot are counted by reason', async () => {
  const hour = await calibration('platform=kalshi&horizon=1h');
  expect(filledBins(hour)).toEqual([
    [3, 2, 1, 0.3],
    [6, 1, 1, 0.65],
    [7, 1, 1, 0.7],
    [9, 1, 0, 1],
  ]);
  expect(hour.meta).toMatchObject({
    horizon: '1h',
    bins: 10,
    category: '',
    settled_markets: 10,
    markets: 5,
    left_out: { no_price: 1, fractional_payout: 1, unknown_payout: 1, unknown_close: 2 },
    // (0.7² + 0.3² + 0.35² + 0.3² + 1²) / 5
    brier_score: 0.3585,
  });
  expect(hour.calibration[3]).toEqual({
    price_from: 0.3,
    price_to: 0.4,
    markets: 2,
    came_true: 1,
    came_true_share: 0.5,
    mean_price: 0.3,
    brier_score: 0.29,
  });
  expect(hour.calibration[0]).toMatchObject({ markets: 0, came_true_share: null, mean_price: null, brier_score: null });
  expect(filledBins(await calibration('platform=kalshi&horizon=1d'))).toEqual([
    [3, 1, 0, 0.3],
    [9, 1, 0, 1],
  ]);
  expect(filledBins(await calibration('platform=kalshi&horizon=7d'))).toEqual([[9, 1, 0, 1]]);
});

test('markets are those of the platform and category, in as many bins as asked for', async () => {
  expect(filledBins(await calibration('horizon=1h&bins=1'))).toEqual([[0, 6, 3, 0.512243]]);
  expect(filledBins(await calibration('platform=polymarket&horizon=1h&bins=100'))).toEqual([[12, 1, 0, 0.123457]]);
  const politics = await calibration('category=politics&horizon=1h&bins=3');
  expect(filledBins(politics)).toEqual([[0, 1, 0, 0.3]]);
  expect(politics.calibration.map(({ price_to: to }) => to)).toEqual([0.3333333333, 0.6666666667, 1]);
  expect((await calibration('platform=limitless')).meta).toMatchObject({
    settled_markets: 0,
    markets: 0,
    brier_score: null,
  });
});

test('the query of docs/sql.md comes to the same', async () => {
  const page = readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8');
  const query = /^Calibration:.*?```sql\n(.*?)```/ms.exec(page)?.[1] ?? '';
  const rows = await store.clickhouse.sql<{ price: number; markets: number; came_true: number; brier: number }>(
    query.replace('ORDER BY price', 'ORDER BY price SETTINGS output_format_json_quote_64bit_integers = 0'),
  );
  const { calibration: bins } = await calibration('horizon=1h');
  expect(rows).toEqual(
    bins
      .filter(({ markets }) => markets > 0)
      .map((bin) => ({
        price: bin.price_from,
        markets: bin.markets,
        came_true: bin.came_true_share,
        brier: bin.brier_score,
      })),
  );
});
