import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { MarketState } from '../../src/core/model.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { announceStored, followStored } from '../../src/stores/shared/stored-changes.ts';
import { market, startMarketStore, type MarketStore } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

const at = (ref: string, status: MarketState['status'], minute: number) => {
  const record = market({ platform: 'kalshi', ref });
  const fetchedAt = new Date(Date.parse(record.fetchedAt) + minute * 60_000).toISOString();
  return { ...record, state: { ...record.state, status }, fetchedAt };
};

/** A process that keeps what it reads, beside writers of another one; `state` says whether messages between them arrive. */
async function startProcesses() {
  const shared = createLocalShared(silent, systemClock);
  const state = { healthy: true };
  const markets = new StoredMarkets(store.clickhouse, async () => null);
  const heard = { ...shared, healthy: () => state.healthy };
  const stop = await followStored(heard, markets, systemClock);
  const sent: string[][] = [];
  return {
    state,
    sent,
    stop,
    markets: new MarketWriter(store.clickhouse, systemClock, {
      onChanged: (platform, refs) => {
        sent.push(refs);
        if (state.healthy) announceStored(shared, platform, refs);
      },
    }),
    statusOf: async (ref: string) => statusIn(await markets.byRef('kalshi', [ref])),
  };
}

const statusIn = (found: Map<string, { status: string }>) => [...found.values()][0]?.status;

test('a status that any process stores is seen by the look-ups of every process', async () => {
  const { markets, sent, statusOf, stop } = await startProcesses();
  await markets.write('kalshi', [at('KXTOLD-1', 'unopened', 0), at('KXTOLD-2', 'open', 0)]);
  expect(await statusOf('KXTOLD-1')).toBe('unopened');
  await markets.write('kalshi', [at('KXTOLD-1', 'open', 6), at('KXTOLD-2', 'open', 6)]);
  expect(await statusOf('KXTOLD-1')).toBe('open');
  // The second one was stored again with the facts it had.
  expect(sent).toEqual([['KXTOLD-1', 'KXTOLD-2'], ['KXTOLD-1']]);
  stop();
});

test('what was read before a message that may have been missed is not used', async () => {
  const { state, markets, statusOf, stop } = await startProcesses();
  await markets.write('kalshi', [at('KXMISSED', 'open', 0)]);
  expect(await statusOf('KXMISSED')).toBe('open');
  state.healthy = false;
  await markets.write('kalshi', [at('KXMISSED', 'closed', 1)]);
  await sleep(600);
  state.healthy = true;
  expect(await statusOf('KXMISSED')).toBe('closed');
  stop();
});

test.each(['forget', 'forgetAll'] as const)('what changes while it is being read is read again: %s', async (how) => {
  const ref = `KXDURING-${how.length}`;
  await store.list(at(ref, 'open', 0));
  let isFirst = true;
  const overtaken: typeof store.clickhouse = {
    ...store.clickhouse,
    async query(name, row, params, options) {
      const rows = await store.clickhouse.query(name, row, params, options);
      if (!isFirst) return rows;
      isFirst = false;
      await store.list(at(ref, 'closed', 1));
      if (how === 'forget') markets.forget('kalshi', [ref]);
      else markets.forgetAll();
      return rows;
    },
  };
  const markets = new StoredMarkets(overtaken, async () => null);
  expect(statusIn(await markets.byRef('kalshi', [ref]))).toBe('open');
  expect(statusIn(await markets.byRef('kalshi', [ref]))).toBe('closed');
});

test('a market that settles after the clock was set back is settled at once', async () => {
  await store.list(at('KXAHEAD', 'open', 60));
  await store.list(at('KXAHEAD', 'settled', 0));
  const { markets } = await store.get<{ markets: object[] }>('markets/id/KXAHEAD?provider=kalshi');
  expect(markets).toMatchObject([{ status: 'settled' }]);
  // A body that only arrives late is older than what is stored.
  await store.list(at('KXLATE', 'settled', -1));
  await store.list(at('KXLATE', 'open', -2));
  const late = await store.get<{ markets: object[] }>('markets/id/KXLATE?provider=kalshi');
  expect(late.markets).toMatchObject([{ status: 'settled' }]);
});

test('an event that is renamed after the clock was set back has its new name', async () => {
  const record = market({ platform: 'kalshi', ref: 'KXEVENTAHEAD-1' });
  const named = (eventName: string) => ({ ...record.info, eventId: 'KXEVENTAHEAD', eventName });
  const ahead = new Date(Date.parse(record.fetchedAt) + 3_600_000).toISOString();
  await store.list({ ...record, info: named('Before'), fetchedAt: ahead });
  await store.list({ ...record, info: named('After') });
  const rows = await store.clickhouse.sql("SELECT title FROM events FINAL WHERE event_id = 'KXEVENTAHEAD'");
  expect(rows).toEqual([{ title: 'After' }]);
});
