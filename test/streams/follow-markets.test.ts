import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MarketLog } from '../../ingest/market-log.ts';
import type { MarketState } from '../../src/core/model.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { followMarkets } from '../../src/streams/follow-markets.ts';
import { Hub } from '../../src/streams/hub.ts';
import { LEASE, market, startMarketStore, type MarketStore } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

const at = (status: MarketState['status'], minute: number) => {
  const record = market({ platform: 'kalshi', ref: 'KXFOLLOWED' });
  const fetchedAt = new Date(Date.parse(record.fetchedAt) + minute * 60_000).toISOString();
  return { ...record, state: { ...record.state, status }, fetchedAt };
};

test('without Redis a process learns from the log which status another one has stored', async () => {
  const { clickhouse } = store;
  const log = pino({ level: 'silent' });
  // The first look at the log fails: until it can be read, nothing is kept for long.
  let failures = 1;
  const flaky: typeof clickhouse = {
    ...clickhouse,
    async query(name, row, params, options) {
      if (name === 'log_epochs' || name === 'log_end') if ((failures -= 1) >= 0) throw new Error('the store is down');
      return clickhouse.query(name, row, params, options);
    },
  };
  const hub = new Hub({ clickhouse: flaky, shared: createLocalShared(silent), log, pollMs: 50 });
  await hub.open();
  const markets = new StoredMarkets(clickhouse, async () => null);
  const stop = new AbortController();
  const following = followMarkets(hub, markets, ['kalshi'], stop.signal);

  const writer = new MarketWriter(clickhouse);
  const changes = new MarketLog({ clickhouse, publish: async () => {}, log, platform: 'kalshi' });
  await writer.write('kalshi', [at('unopened', 0)]);
  await changes.begin(LEASE);
  await following;
  expect(await markets.byAnyId('kalshi', 'KXFOLLOWED')).toMatchObject({ status: 'unopened' });
  await writer.write('kalshi', [at('open', 1)]);
  expect(await changes.step(LEASE)).toBe(1);
  await expect
    .poll(async () => (await markets.byAnyId('kalshi', 'KXFOLLOWED'))?.status, { timeout: 5000 })
    .toBe('open');
  expect(failures).toBeLessThan(0);
  stop.abort();
  hub.close();
});
