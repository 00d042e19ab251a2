import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertTrades, SqlPortUnderTest, WALLET } from '../helpers/sql-port.ts';

let port: SqlPortUnderTest;

beforeAll(async () => {
  port = await SqlPortUnderTest.start();
});

afterAll(async () => {
  await port.close();
});

const text = async (sql: string) => (await port.ask(sql)).text();

test('numbers multiply, add up and divide at the largest stored values without an overflow', async () => {
  const [most, far] = ['999999999999.999999', Date.now() - 30 * 86_400_000];
  await insertTrades(port.store, 1, 'most', far, { ref: 'M-MOST', price: '1', size: most });
  const one = "FROM v_trades WHERE market_key = (SELECT DISTINCT market_key FROM v_trades WHERE trade_id = 'most0')";
  const sums = 'max(price * size), max(size * notional) > 0, sum(price * size) / sum(size), max(size * first_price)';
  expect(await text(`SELECT ${sums} ${one}`)).toBe(`${most}\t1\t1\t${most}\n`);
  expect(await text('SELECT sum(price * size) / sum(size) > 0 FROM v_trades')).toBe('1\n');
  expect(await text('SELECT sum((ask - bid) / bid) > 0 FROM v_markets')).toBe('1\n');
});

test('a large trade is one of much money, not of many contracts', async () => {
  const at = Date.now() - 60_000;
  await insertTrades(port.store, 1, 'cents', at, { ref: 'M-LARGE', price: '0.01', size: '24999' });
  await insertTrades(port.store, 1, 'money', at, { ref: 'M-LARGE', price: '0.5', size: '500' });
  const large = "SELECT trade_id, notional FROM v_whales WHERE trade_id IN ('cents0', 'money0')";
  expect(await text(large)).toBe('money0\t250\n');
});

test('times are UTC, which their texts state if the statement asks for it', async () => {
  await insertTrades(port.store, 1, 'noon', Date.parse('2026-03-07T12:00:00Z'), { ref: 'M-NOON' });
  const one = "SELECT time FROM v_trades WHERE trade_id = 'noon0'";
  expect(await text(one)).toBe('2026-03-07 12:00:00.000000\n');
  expect(await text(`${one} SETTINGS date_time_output_format = 'iso'`)).toBe('2026-03-07T12:00:00.000000Z\n');
});

test('decimals have 38 digits, and every view has its time', async () => {
  const narrow =
    "SELECT table, name, type FROM system.columns WHERE type LIKE '%Decimal%' AND type NOT LIKE '%Decimal(38, %'";
  expect(await text(narrow)).toBe('');
  expect(await text("SELECT table FROM system.columns GROUP BY table HAVING countIf(name = 'time') = 0")).toBe('');
});

test('bars agree at all lengths, and the first and last prices are those of the trades', async () => {
  const [all = '', ...others] = (
    await text(
      `SELECT interval, sum(trades), sum(volume), max(high), min(low), argMin(open, time), argMax(close, time) FROM v_candles
       WHERE market_key = (SELECT market_key FROM v_markets WHERE id = 'kalshi:M1') GROUP BY interval ORDER BY interval`,
    )
  )
    .trim()
    .split('\n');
  expect([all, ...others].map((line) => line.split('\t')[0])).toEqual(['1m', '5m', '15m', '1h', '4h', '1d']);
  for (const line of others) expect(line.split('\t').slice(1)).toEqual(all.split('\t').slice(1));
  const traded = await text(
    `SELECT count(), sum(size), max(first_price), min(first_price), argMin(first_price, (time, trade_id)), argMax(first_price, (time, trade_id))
     FROM v_trades WHERE market_key = (SELECT market_key FROM v_markets WHERE id = 'kalshi:M1')`,
  );
  expect(all.split('\t').slice(1)).toEqual(traded.trim().split('\t'));
});

test('a bar whose trades were stored one after another has the first and the last price of all', async () => {
  for (const table of ['candles_1m', 'candles_1h']) await port.store.command(`SYSTEM STOP MERGES ${table}`);
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 48 * 3_600_000;
  const stored = [0.5, 0.6, 0.4].entries();
  for (const [n, price] of stored)
    await insertTrades(port.store, 1, `bar${n}`, hour + n * 1000, { ref: 'M-BAR', price: String(price) });
  const bars = `SELECT interval, open, close, trades FROM v_candles
    WHERE market_key = (SELECT DISTINCT market_key FROM v_trades WHERE trade_id = 'bar00') ORDER BY interval FORMAT TSV`;
  const lines = ['1m', '5m', '15m', '1h', '4h', '1d'].map((interval) => `${interval}\t0.5\t0.4\t3\n`);
  expect(await text(bars)).toBe(lines.join(''));
});

test('a wallet has the sums of its trades, and a filter on it uses the index', async () => {
  const sums = `SELECT count(), sum(size), sum(notional), min(time), max(time) FROM v_trades WHERE trader = '${WALLET}'`;
  const wallet = `SELECT trades, volume, notional, first_trade_at, last_trade_at FROM v_wallets WHERE wallet = '${WALLET}'`;
  expect(await text(wallet)).toBe(await text(sums));
  expect(await text(`SELECT trades >= 100 FROM v_wallets WHERE wallet = '${WALLET}'`)).toBe('1\n');
  const plan = await port.store.sql<{ explain: string }>(
    `EXPLAIN indexes = 1 SELECT * FROM v_trades WHERE trader = '${WALLET}'`,
  );
  expect(plan.map(({ explain }) => explain).join('\n')).toContain('wallet_index');
});
