import { expect, test } from 'vitest';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import { whalePage } from '../../src/queries/whale-trades.ts';
import type { Postgres } from '../../src/stores/postgres/client.ts';
import { systemClock } from '../../src/core/time.ts';
import { TraderNames } from '../../src/queries/trader-names.ts';
import { tradeAnswer, tradePage } from '../../src/queries/market-trades.ts';

function storeOf(query: (name: string) => Promise<object[]>) {
  const clickhouse = { query } as unknown as ClickHouse;
  const postgres = { db: { execute: async () => ({ rows: [] }) } as unknown as Postgres['db'] };
  return { clickhouse, postgres, traderNames: new TraderNames({ clickhouse, postgres, clock: systemClock }) };
}

const row = (id: string) => ({
  trade_id: id,
  side: 'buy' as const,
  outcome: 'yes',
  outcome_index: 0,
  transaction_hash: '',
  price: '0.5',
  size: '1',
  quote_usd: null,
  series_price: '0.5',
  executed_at_us: 1,
  trade_order: '1',
  is_block: false,
  wallet: '',
});

/** Two rows, of which the totals know one. */
const query = async (name: string) => (name === 'market_trades' ? [row('b'), row('a')] : [{ trades: 1 }]);

test('the total of a list counts at least the trades it shows, which the totals may count a moment later', async () => {
  const market = { platform: 'kalshi', ref: 'K', platformId: 'K', outcomes: [] } as unknown as StoredMarket;
  const store = storeOf(query);
  expect((await tradePage(store, market, null, 10)).total).toBe(2);
  expect(await tradePage(store, market, null, 1)).toMatchObject({ total: 2, next: { total: 2 } });
});

const whale = (id: string) => ({
  ...row(id),
  platform: 'kalshi',
  market_key: '1',
  notional: '1',
  id_tx: '',
  id_hex: id,
});

test('the total of whales counts at least those it shows, which may be read a moment after they were counted', async () => {
  const rows = [whale('b'), whale('a')];
  const answers: Record<string, object[]> = { whales_by_time: rows, whales_count: [{ trades: 1 }] };
  const store = storeOf(async (name) => answers[name] ?? []);
  const floors = { addresses: [], minSize: 0n, minNotional: 0n, startMs: undefined, endMs: undefined };
  const filter = { ...floors, platforms: [], market: null, sort: 'time' as const };
  expect((await whalePage(store, filter, null, 10)).total).toBe(2);
  expect(await whalePage(store, filter, null, 1)).toMatchObject({ total: 2, next: { total: 2 } });
});

test('a trade of Limitless names its token, its account as the platform writes it, and the USDC paid if that is known', () => {
  const outcomes = [{ id: 'yes', name: 'Yes', tokenId: '71' }];
  const market = {
    platform: 'limitless',
    ref: 'm',
    platformId: 'm',
    sourceUrl: '',
    outcomes,
  } as unknown as StoredMarket;
  const wallet = '0x0e03edc2a0ba38e803dad62b31b6e6a2f4b216cc';
  const metadata = (quote_usd: string | null) =>
    tradeAnswer({ ...row('a'), wallet, quote_usd }, market, undefined).metadata;
  const known = {
    token_id: '71',
    account: '0x0e03eDc2A0ba38E803DaD62b31b6e6A2f4b216cc',
    executed_at: '1970-01-01T00:00:00.000Z',
  };
  expect(metadata('0.83')).toEqual({ ...known, usdc: 0.83 });
  expect(metadata(null)).toEqual(known);
});
