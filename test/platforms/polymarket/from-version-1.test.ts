import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { Spool } from '../../../ingest/spool/spool.ts';
import { parsePrice, parseSize } from '../../../src/core/decimal.ts';
import { createLog } from '../../../src/core/log.ts';
import type { TradeRecord } from '../../../src/core/model.ts';
import { createPolymarketData } from '../../../src/platforms/polymarket/data.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { readContext, SETTINGS } from '../../fixtures/canned-http.ts';
import { unmeteredHttp } from '../../fixtures/unmetered-http.ts';
import { LEASE } from '../../helpers/market-store.ts';
import { openOwnClickHouse } from '../../helpers/own-clickhouse.ts';
import { manualClock } from '../../simulators/lib/index.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';
import { readerOf, type Row } from '../../simulators/polymarket/reader.ts';
import { tradeWriter } from '../../helpers/trade-writer.ts';

let directory: string;
let clickhouse: ClickHouse;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-version-1-'));
  ({ clickhouse } = await openOwnClickHouse());
});
afterAll(async () => {
  await clickhouse?.close();
  await rm(directory, { recursive: true, force: true });
});

/** Digits to six places, as the ids of version 1 had them. */
const sixPlaces = (value: unknown): string => String(Number(Number(value).toFixed(6)));

/** Rows of version 1, newest first, as releases that read it stored them. */
function asStored(rows: readonly Row[]): TradeRecord[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const [wallet, token] = [String(row['proxyWallet']), String(row['asset'])];
    const facts = [wallet, row['side'], sixPlaces(row['price']), sixPlaces(row['size'])].join('|');
    const digest = createHash('sha256').update(facts).digest('hex').slice(0, 8);
    const id = `${String(row['transactionHash'])}-${token.slice(-8)}-${digest}`;
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return {
      platform: 'polymarket',
      ref: String(row['conditionId']),
      tradeId: count === 1 ? id : `${id}.${count}`,
      executedAtUs: Number(row['timestamp']) * 1e6,
      side: row['side'] === 'BUY' ? 'buy' : 'sell',
      outcome: row['outcomeIndex'] === 0 ? 'yes' : 'no',
      outcomeIndex: Number(row['outcomeIndex']),
      outcomeCount: 2,
      price: parsePrice(Number(row['price'])),
      size: parseSize(Number(row['size'])),
      transactionHash: String(row['transactionHash']),
      trader: { address: wallet, name: '', pseudonym: '', profileImage: '' },
      isBlockTrade: false,
      quoteUsd: null,
    };
  });
}

test('a store filled through version 1 neither doubles nor loses a trade when version 2 takes over', async () => {
  const clock = manualClock('2026-10-23T12:00:00Z');
  const sim = await startPolymarket({ seed: 31, clock, tradesPerMarket: 20, historyDays: 15 });
  const http = await unmeteredHttp();
  const { world } = sim;
  sim.enforceLimits = false;
  world.dataApi.v1 = 'deprecated';
  const dusty = world.markets.find((market) => market.state === 'open' && market.volume > 0n)!;
  world.makeTrade(dusty, undefined, 5000n);
  const before = asStored(await readerOf(sim).data<Row[]>('/trades?takerOnly=true&limit=10000'));
  expect(before.some(({ tradeId }) => tradeId.endsWith('.2'))).toBe(true);

  const log = createLog({ LOG_LEVEL: 'silent' });
  const spool = await Spool.open(join(directory, 'spool'));
  const writer = tradeWriter({ clickhouse, spool, log, platform: 'polymarket', clock: systemClock });
  await writer.open(LEASE, null);
  expect(await writer.write(before, LEASE)).toBe(before.length);

  world.dataApi.v1 = 410;
  clock.advance(3_600_000);
  sim.trade(300);
  clock.advance(60_000);
  const settings = { ...SETTINGS, ...sim.env };
  const data = createPolymarketData({ http, settings, now: () => clock.now() });
  const context = readContext();
  const query = { sinceUs: 1, untilUs: null, market: null };
  for (let reading = 0; reading < 2; reading += 1) {
    for await (const page of data.trades(query, { byRef: async () => new Map() }, context)) {
      await writer.write(page.trades, LEASE);
    }
  }
  const stored = await clickhouse.sql<{ id: string }>('SELECT trade_id AS id FROM trades');
  const ids = stored.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBe(world.ledger.tape.count);
  expect(new Set(stored.map(({ id }) => id.slice(0, 66))).size).toBe(
    new Set(world.trades().map(({ transactionHash }) => transactionHash)).size,
  );
  expect(context.badRows).toEqual([]);
  await sim.close();
  await http.close();
});
