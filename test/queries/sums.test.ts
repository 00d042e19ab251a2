import { afterAll, beforeAll, expect, test } from 'vitest';
import { INTERVAL_SECONDS, type MarketRecord } from '../../src/core/model.ts';
import { clockAt } from '../helpers/virtual-clock.ts';
import { type MarketStore, market, startMarketStore, trade } from '../helpers/market-store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Math.floor(Date.now() / DAY) * DAY - DAY + 13 * HOUR + 7 * MINUTE + 11_123;
const SINCE = Math.floor(NOW / DAY) * DAY - 3 * DAY;
const createdAt = new Date(SINCE).toISOString();
const three = ['a', 'b', 'c'].map((id) => ({ id, name: id.toUpperCase(), tokenId: `${id}1` }));
const MARKETS = {
  kalshi: market({ platform: 'kalshi', ref: 'KXSUMS-1', createdAt }),
  polymarket: market({ platform: 'polymarket', ref: `0x${'5a'.repeat(32)}`, platformId: '4711', createdAt }),
  'polymarket, three outcomes': market({
    platform: 'polymarket',
    ref: `0x${'5b'.repeat(32)}`,
    platformId: '4712',
    createdAt,
    marketType: 'multiple_choice',
    outcomes: three,
  }),
  limitless: market({ platform: 'limitless', ref: 'sums', createdAt }),
  'limitless, three outcomes': market({ platform: 'limitless', ref: 'three-sums', outcomes: three, createdAt }),
};
/** On and around the edges of buckets and of the last day, some of one instant. */
const MOMENTS = [
  SINCE,
  SINCE + 59_999,
  SINCE + MINUTE,
  SINCE + HOUR - 1,
  SINCE + HOUR,
  SINCE + HOUR,
  SINCE + 4 * HOUR - 1,
  SINCE + DAY - 1,
  SINCE + DAY,
  NOW - DAY - 1,
  NOW - DAY,
  NOW - DAY + 1,
  NOW - 1,
];
const WALLET = `0x${'7'.repeat(40)}`;
const PRICES = ['0', '1', '0.333333', '0.000001', '0.999999', '0.5'];
const SIZES = ['0.000001', '1234567.654321', '3', '0.1', '0.2', '99.999999'];

let store: MarketStore;

beforeAll(async () => {
  store = await startMarketStore({ clock: clockAt(() => NOW) });
  await store.list(...Object.values(MARKETS));
  for (const of of Object.values(MARKETS)) {
    await store.trade(
      ...MOMENTS.flatMap((atMs, n) =>
        of.info.outcomes.map(({ id }, m) =>
          trade({
            of,
            atMs: of.info.platform === 'polymarket' ? Math.floor(atMs / 1000) * 1000 : atMs,
            price: PRICES[(n + m) % PRICES.length]!,
            size: SIZES[(n * 5 + m) % SIZES.length]!,
            outcome: id,
            isBlockTrade: of.info.platform === 'kalshi' && n % 4 === 0,
            trader:
              of.info.platform === 'kalshi' ? null : { address: WALLET, name: '', pseudonym: '', profileImage: '' },
          }),
        ),
      ),
    );
  }
  for (const platform of ['kalshi', 'polymarket', 'limitless'] as const) await store.cover(platform, SINCE - DAY, NOW);
});
afterAll(() => store?.close());

const micros = (value: number): bigint => BigInt(Math.round(value * 1e6));
const sum = <T>(rows: readonly T[], of: (row: T) => number | null): bigint =>
  rows.reduce((total, row) => total + micros(of(row) ?? NaN), 0n);

interface Sums {
  size: bigint;
  usd: bigint;
  trades: number;
}

async function tradedSums({ info }: MarketRecord): Promise<Sums> {
  const { trades } = await store.get<{ trades: { size: number }[] }>(
    `markets/id/${info.platformId}/trades?provider=${info.platform}&limit=200`,
  );
  const [{ usd, size, n } = { usd: '', size: '', n: '' }] = await store.clickhouse.sql<{
    usd: string;
    size: string;
    n: string;
  }>(
    'SELECT sum(notional) AS usd, sum(size) AS size, count() AS n FROM trades WHERE market_key = sipHash64({p:String}, {r:String})',
    { p: info.platform, r: info.ref },
  );
  expect([sum(trades, (row) => row.size), trades.length]).toEqual([micros(Number(size)), Number(n)]);
  return { size: sum(trades, (row) => row.size), usd: micros(Number(usd)), trades: trades.length };
}

test.each(Object.entries(MARKETS))('%s: buckets of every interval add up to the trades', async (_, of) => {
  const { platform, platformId: id } = of.info;
  const traded = await tradedSums(of);
  expect(traded.trades).toBe(MOMENTS.length * of.info.outcomes.length);
  const range = `start_ts=${SINCE / 1000}&end_ts=${Math.ceil(NOW / 1000)}`;
  for (const interval of Object.keys(INTERVAL_SECONDS)) {
    const { data } = await store.get<{
      data: { volume: number | null; notional_value: number | null; trade_count: number | null }[];
    }>(`metrics/historical?platform=${platform}&market_id=${id}&${range}&interval=${interval}&limit=5000`);
    const sums = {
      size: sum(data, (row) => row.volume),
      usd: sum(data, (row) => row.notional_value),
      trades: data.reduce((total, row) => total + (row.trade_count ?? NaN), 0),
    };
    expect({ interval, ...sums }).toEqual({ interval, ...traded });
    const [bars] = await store.clickhouse.sql<{ size: string; usd: string; trades: string }>(
      `SELECT sum(volume) AS size, sum(notional) AS usd, sum(trades) AS trades FROM v_candles
      WHERE interval = {interval:String} AND market_key = sipHash64({platform:String}, {ref:String})`,
      { interval, platform, ref: of.info.ref },
    );
    expect([micros(Number(bars?.size)), micros(Number(bars?.usd)), Number(bars?.trades)]).toEqual(
      Object.values(traded),
    );
  }
  for (const interval of [1, 60, 1440]) {
    const outcome = of.info.outcomes.length > 2 ? '&outcome=all' : '';
    const { data } = await store.get<{ data: { volume: number | null }[] }>(
      `markets/price-history?provider=${platform}&market_ids=${id}&${range}&interval=${interval}&limit=5000${outcome}`,
    );
    expect({ interval, size: sum(data, (row) => row.volume) }).toEqual({ interval, size: traded.size });
  }
  const { metrics } = await store.get<{
    metrics: { notional_value: number; volume_usd: Record<string, number> };
  }>(`metrics/snapshot?platform=${platform}&market_id=${id}`);
  expect(
    [metrics.notional_value, metrics.volume_usd['total'], metrics.volume_usd['volume_7d']].map((usd) => micros(usd!)),
  ).toEqual([traded.usd, traded.usd, traded.usd]);
  const whales = await store.get<{ trades: { notional_value: number; size: number }[] }>(
    `trades/whales?platform=${platform}&market_id=${id}&min_size=0&limit=200`,
  );
  expect([sum(whales.trades, (row) => row.notional_value), sum(whales.trades, (row) => row.size)]).toEqual([
    traded.usd,
    traded.size,
  ]);
});

test('the volume of a wallet is the sum of its trades', async () => {
  const sums = await Promise.all(
    Object.values(MARKETS).flatMap((of) => (of.info.platform === 'kalshi' ? [] : tradedSums(of))),
  );
  const { wallet, top_markets: markets } = await store.get<{
    wallet: { volume_usd: number; trades: number };
    top_markets: { volume_usd: number; trades: number }[];
  }>(`wallets/${WALLET}?top_markets=10`);
  const usd = sums.reduce((total, one) => total + one.usd, 0n);
  const trades = sums.reduce((total, one) => total + one.trades, 0);
  expect([micros(wallet.volume_usd), wallet.trades]).toEqual([usd, trades]);
  expect([sum(markets, (row) => row.volume_usd), Number(sum(markets, (row) => row.trades)) / 1e6]).toEqual([
    usd,
    trades,
  ]);
});
