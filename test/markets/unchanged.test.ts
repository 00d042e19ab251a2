import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE_MS, systemClock } from '../../src/core/time.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { parseUsd } from '../../src/core/decimal.ts';
import type { MarketRecord } from '../../src/core/model.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { market } from '../helpers/market-store.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';

let clickhouse: ClickHouse;
beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
});
afterAll(() => clickhouse?.close());

const START_MS = Date.UTC(2026, 10, 20, 12);
const at = (minutes: number): string => new Date(START_MS + minutes * MINUTE_MS).toISOString();

/** A market as a listing shows it so many minutes after the start. */
function listed(ref: string, minutes: number, volume: string, status: 'open' | 'closed' = 'open'): MarketRecord {
  const record = market({ platform: 'polymarket', ref, state: { status, volumeTotal: parseUsd(volume) } });
  return { ...record, fetchedAt: at(minutes) };
}

const pair = (minutes: number) => [listed('traded', minutes, '5'), listed('untraded', minutes, '0')];

/** The store, and the tables and queries that a writer used. */
function noted() {
  const calls: string[] = [];
  const store: ClickHouse = {
    ...clickhouse,
    query: (name, ...rest) => (calls.push(name), clickhouse.query(name, ...rest)),
    run: (name, ...rest) => (calls.push(name), clickhouse.run(name, ...rest)),
    insert: (table, rows, ...rest) => {
      if (rows.length > 0) calls.push(`insert ${table.split(' ', 1)[0]}`);
      return clickhouse.insert(table, rows, ...rest);
    },
  };
  return { calls, writer: new MarketWriter(store, systemClock) };
}

test('an unchanged market costs no statement, also not in the process that starts next', async () => {
  const first = noted();
  await first.writer.write('polymarket', [listed('same', 0, '5'), listed('other', 0, '5')]);
  first.calls.length = 0;
  const again = [listed('same', 4, '5'), listed('other', 4, '6')];
  expect(first.writer.unwritten(again).map(({ info }) => info.ref)).toEqual(['other']);
  await first.writer.write('polymarket', [again[0]!]);
  expect(first.calls).toEqual([]);
  const next = noted();
  expect(next.writer.unwritten(again)).toHaveLength(2);
  await next.writer.recall('polymarket');
  expect(next.writer.unwritten(again).map(({ info }) => info.ref)).toEqual(['other']);
});

test('what another process wrote later is recalled, what it wrote earlier is not', async () => {
  const { writer } = noted();
  await writer.write('polymarket', [listed('newer', 0, '5')]);
  const other = noted();
  await other.writer.recall('polymarket');
  await other.writer.write('polymarket', [listed('newer', 1, '6')]);
  await writer.recall('polymarket');
  expect(writer.unwritten([listed('newer', 2, '6')])).toEqual([]);
  expect(writer.unwritten([listed('newer', 2, '5')])).toHaveLength(1);
});

test('an unchanged market gets a snapshot after five minutes, one that never traded after an hour', async () => {
  const { writer } = noted();
  await writer.write('polymarket', pair(0));
  const due = (minutes: number) => writer.unwritten(pair(minutes)).map(({ info }) => info.ref);
  expect([due(4), due(5), due(59), due(60)]).toEqual([[], ['traded'], ['traded'], ['traded', 'untraded']]);
  await writer.write('polymarket', pair(5));
  const rows = await clickhouse.sql<{ ref: string; n: string }>(
    `SELECT m.ref AS ref, toString(count()) AS n FROM market_snapshots AS s INNER JOIN markets AS m ON m.market_key = s.market_key
     WHERE m.ref IN ('traded', 'untraded') GROUP BY m.ref ORDER BY ref`,
  );
  expect(rows).toEqual([
    { ref: 'traded', n: '2' },
    { ref: 'untraded', n: '1' },
  ]);
});

test("the platform's own object is written hourly, and at once with another status", async () => {
  const { calls, writer } = noted();
  const hasRaw = async (record: MarketRecord): Promise<boolean> => {
    calls.length = 0;
    await writer.write('polymarket', [record]);
    return calls.includes('insert market_raw');
  };
  expect(await hasRaw(listed('raw', 0, '5'))).toBe(true);
  expect(await hasRaw(listed('raw', 1, '6'))).toBe(false);
  expect(await hasRaw(listed('raw', 2, '6', 'closed'))).toBe(true);
  expect(await hasRaw(listed('raw', 61, '7', 'closed'))).toBe(false);
  expect(await hasRaw(listed('raw', 62, '8', 'closed'))).toBe(true);
});
