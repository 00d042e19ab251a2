import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { followWriters } from '../../src/markets/follow-writers.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import type { MarketState } from '../../src/core/model.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { market, startMarketStore, type MarketStore } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

const at = (ref: string, status: MarketState['status'], minute: number) => {
  const record = market({ platform: 'kalshi', ref });
  return {
    ...record,
    state: { ...record.state, status },
    fetchedAt: new Date(Date.parse(record.fetchedAt) + minute * 60_000).toISOString(),
  };
};

/** A process that looks markets up, beside a writer of another one; `state` says whether messages between them arrive. */
async function startProcesses() {
  const shared = createLocalShared(silent);
  const state = { healthy: true };
  const markets = new StoredMarkets(store.clickhouse, async () => null);
  const reader = await followWriters({ ...shared, healthy: () => state.healthy }, markets);
  const writers = await followWriters(shared, new StoredMarkets(store.clickhouse, async () => null));
  const sent: string[][] = [];
  const writer = new MarketWriter(store.clickhouse, (platform, refs) => {
    sent.push(refs);
    if (state.healthy) writers.changed(platform, refs);
  });
  const statusOf = async (ref: string) => (await markets.byAnyId('kalshi', ref))?.status;
  const stop = () => [reader, writers].forEach((one) => one.stop());
  return { state, writer, sent, statusOf, stop };
}

test('a status that any process stores is seen by the look-ups of every process', async () => {
  const { writer, sent, statusOf, stop } = await startProcesses();
  await writer.write('kalshi', [at('KXTOLD-1', 'unopened', 0), at('KXTOLD-2', 'open', 0)]);
  expect(await statusOf('KXTOLD-1')).toBe('unopened');
  await writer.write('kalshi', [at('KXTOLD-1', 'open', 6), at('KXTOLD-2', 'open', 6)]);
  expect(await statusOf('KXTOLD-1')).toBe('open');
  // The second one was stored again with the facts it had.
  expect(sent).toEqual([['KXTOLD-1', 'KXTOLD-2'], ['KXTOLD-1']]);
  stop();
});

test('look-ups from before a message that may have been missed are not used', async () => {
  const { state, writer, statusOf, stop } = await startProcesses();
  await writer.write('kalshi', [at('KXMISSED', 'open', 0)]);
  expect(await statusOf('KXMISSED')).toBe('open');
  state.healthy = false;
  await writer.write('kalshi', [at('KXMISSED', 'closed', 1)]);
  await sleep(600);
  state.healthy = true;
  expect(await statusOf('KXMISSED')).toBe('closed');
  stop();
});

test('a market that is stored again while it is being read is read again by the next look-up', async () => {
  await store.list(at('KXDURING', 'open', 0));
  let isFirst = true;
  const overtaken: typeof store.clickhouse = {
    ...store.clickhouse,
    async query(name, row, params, options) {
      const rows = await store.clickhouse.query(name, row, params, options);
      if (!isFirst) return rows;
      isFirst = false;
      await store.list(at('KXDURING', 'closed', 1));
      markets.forget('kalshi', ['KXDURING']);
      return rows;
    },
  };
  const markets = new StoredMarkets(overtaken, async () => null);
  expect(await markets.byAnyId('kalshi', 'KXDURING')).toMatchObject({ status: 'open' });
  const next = await markets.byAnyId('kalshi', 'KXDURING');
  expect(next).toMatchObject({ status: 'closed' });
  expect(await markets.keyOf(next!)).toMatch(/^[1-9]\d+$/);
});
