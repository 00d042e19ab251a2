import { expect, test } from 'vitest';
import type { ClickHouse } from '../src/clickhouse.ts';
import type { MarketKeys } from '../src/platforms/platform.ts';
import { tradePage } from '../src/trade-pages.ts';

const row = (id: string) => ({
  trade_id: id,
  side: 'buy' as const,
  outcome: 'yes',
  outcome_index: 0,
  transaction_hash: '',
  price: '0.5',
  size: '1',
  series_price: '0.5',
  executed_at_us: 1,
  trade_order: '1',
  is_block: false,
  wallet: '',
});

/** Two rows, of which the totals know one. */
const query = async (name: string) => (name === 'market_trades' ? [row('b'), row('a')] : [{ trades: 1 }]);

test('the total of a list counts at least the trades it shows, which the totals may count a moment later', async () => {
  const market = { platform: 'kalshi', ref: 'K', platformId: 'K', outcomes: [] } as unknown as MarketKeys;
  const clickhouse = { query } as unknown as ClickHouse;
  expect((await tradePage(clickhouse, market, null, 10)).total).toBe(2);
  expect(await tradePage(clickhouse, market, null, 1)).toMatchObject({ total: 2, next: { total: 2 } });
});
