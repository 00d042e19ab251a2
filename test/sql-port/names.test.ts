import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR_MS, storeTime } from '../../src/core/time.ts';
import { admitDictionaries } from '../../src/stores/clickhouse/dictionaries.ts';
import { silent } from '../helpers/silent-log.ts';
import { insertTrades, SqlPortUnderTest } from '../helpers/sql-port.ts';

let port: SqlPortUnderTest;
const text = async (sql: string) => (await port.ask(sql)).text();
const reload = () => port.store.command('SYSTEM RELOAD DICTIONARY market_names');

const looksUp = async (columns: string) => {
  const plan = await port.store.sql<{ explain: string }>(`EXPLAIN actions = 1 SELECT ${columns} FROM v_trades`);
  return plan.some(({ explain }) => explain.includes('dictGet'));
};
const refused = async (sql: string) => {
  const answer = await port.ask(sql);
  return [answer.status, await answer.text()] as const;
};

beforeAll(async () => {
  port = await SqlPortUnderTest.start();
});
afterAll(() => port.close());

test('every view with a market key has the id and the title of the market beside it', async () => {
  await reload();
  const views = (
    await text(
      "SELECT table FROM system.columns WHERE name = 'market_key' AND table != 'v_markets' GROUP BY table ORDER BY table",
    )
  )
    .trim()
    .split('\n');
  expect(views.length).toBeGreaterThan(8);
  for (const view of views) {
    const named = `SELECT count() > 0, countIf(v.market_id = m.market_id AND v.title = m.title) = count() FROM ${view} AS v INNER JOIN v_markets AS m ON m.market_key = v.market_key`;
    expect(await text(named), view).toBe('1\t1\n');
  }
  const ofOne = "SELECT count() = countIf(market_id = 'M1') FROM v_trades WHERE title = 'Will M1 happen?'";
  expect(await text(ofOne)).toBe('1\n');
});

test('a market that is traded before it is listed has no name', async () => {
  await insertTrades(port.store, 1, 'early', Date.now(), { ref: 'UNLISTED' });
  expect(await text("SELECT market_id, title FROM v_trades WHERE trade_id = 'early0'")).toBe('\\N\t\\N\n');
});

test('a market that is listed or renamed later has its name after the next load, and the others keep theirs', async () => {
  const now = new Date().toISOString();
  const times = { first_seen_at: now, version: now };
  const listed = (ref: string, title: string) => ({ platform: 'kalshi', ref, platform_id: ref, title, ...times });
  await port.store.insert('markets (platform, ref, platform_id, title, first_seen_at, version)', [
    listed('UNLISTED', 'Listed at last'),
    listed('M2', 'Renamed'),
  ]);
  await reload();
  const titles = "SELECT title FROM v_trades WHERE market_id IN ('M1', 'M2', 'UNLISTED') GROUP BY title ORDER BY title";
  expect(await text(titles)).toBe('Listed at last\nRenamed\nWill M1 happen?\n');
});

test('a server loads the names that were stored since its last load, whatever its zone', async () => {
  const zone = "SETTINGS session_timezone = 'Asia/Tokyo'";
  const storedSince = async (hours: number) => {
    // The server writes the time of the last load in its own zone, nine hours ahead.
    const since = storeTime(Date.now() + (hours + 9) * HOUR_MS);
    return port.store.sql(`SELECT count() > 0 AS any FROM named_markets WHERE version >= '${since}' ${zone}`);
  };
  expect(await storedSince(-1)).toEqual([{ any: 1 }]);
  expect(await storedSince(1)).toEqual([{ any: 0 }]);
});

test('names are looked up where they are asked for, and nowhere else', async () => {
  expect([await looksUp('market_key, time, price, size, trader'), await looksUp('count()')]).toEqual([false, false]);
  expect(await looksUp('title')).toBe(true);
});

test('an interval and a side that do not exist are refused with those that do', async () => {
  const intervals = await refused("SELECT count() FROM v_candles WHERE interval = '2m'");
  expect(intervals).toEqual([400, expect.stringContaining("'15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6")]);
  expect(await refused("SELECT count() FROM v_candles WHERE interval IN ('1m', 'hour')")).toEqual([
    400,
    expect.stringContaining("Unknown element 'hour'"),
  ]);
  const sides = await refused("SELECT count() FROM v_trades WHERE side = 'BUY'");
  expect(sides).toEqual([400, expect.stringContaining("'buy' = 1, 'sell' = 2")]);
});

test('a server that admits nobody without a password loads the names with those of CLICKHOUSE_URL', async () => {
  const [made] = await port.store.sql<{ text: string }>(
    "SELECT create_table_query AS text FROM system.tables WHERE name = 'market_names'",
  );
  const refusing = made!.text
    .replace('CREATE DICTIONARY', 'CREATE OR REPLACE DICTIONARY')
    .replace('CLICKHOUSE(', "CLICKHOUSE(USER 'nobody' PASSWORD 'former' ");
  await port.store.command(refusing);
  expect((await port.ask('SELECT any(title) FROM v_trades')).status).not.toBe(200);
  await admitDictionaries(port.store, 'http://default@example.com/forecastle', silent);
  expect(await text("SELECT DISTINCT title FROM v_trades WHERE market_id = 'M1'")).toBe('Will M1 happen?\n');
});
