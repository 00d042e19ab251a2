import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { TradeNames } from '../../ingest/trade-names.ts';
import type { MarketState, TradeRecord } from '../../src/core/model.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { TraderNames } from '../../src/queries/trader-names.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { announceStored, followStored } from '../../src/stores/shared/stored-changes.ts';
import { market, startMarketStore, trade, type MarketStore } from '../helpers/market-store.ts';
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
  const shared = createLocalShared(silent);
  const state = { healthy: true };
  const markets = new StoredMarkets(store.clickhouse, async () => null);
  const traders = new TraderNames(store.clickhouse);
  const heard = { ...shared, healthy: () => state.healthy };
  const stops = [
    await followStored(heard, 'markets', markets, systemClock),
    await followStored(heard, 'traders', traders, systemClock),
  ];
  const sent: string[][] = [];
  const announce = (kind: 'markets' | 'traders', ids: string[]): void => {
    sent.push(ids);
    if (state.healthy) announceStored(shared, kind, 'polymarket', ids);
  };
  return {
    state,
    sent,
    stop: () => stops.forEach((stop) => stop()),
    markets: new MarketWriter(store.clickhouse, {
      onChanged: (platform, refs) => {
        sent.push(refs);
        if (state.healthy) announceStored(shared, 'markets', platform, refs);
      },
    }),
    names: new TradeNames({
      clickhouse: store.clickhouse,
      platform: 'polymarket',
      onNamed: (wallets) => announce('traders', wallets),
    }),
    statusOf: async (ref: string) => statusIn(await markets.byRef('kalshi', [ref])),
    nameOf: async (wallet: string) => (await traders.of([polymarket(wallet)]))(polymarket(wallet))?.name,
  };
}

const polymarket = (wallet: string) => ({ platform: 'polymarket' as const, wallet });
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

const WALLET = `0x${'ab'.repeat(20)}`;
const by = (name: string): TradeRecord => ({
  ...trade({ of: market({ platform: 'polymarket', ref: `0x${'1'.repeat(64)}` }), atMs: 0, price: '0.5', size: '1' }),
  trader: { address: WALLET.toUpperCase().replace('0X', '0x'), name, pseudonym: '', profileImage: '' },
});

test('a name that any process stores is seen by every process, also where none was known', async () => {
  const { names, sent, nameOf, stop } = await startProcesses();
  expect(await nameOf(WALLET)).toBeUndefined();
  await names.store([by('Ann')]);
  expect(await nameOf(WALLET)).toBe('Ann');
  await names.store([by('Ann')]);
  await names.store([by('Ann'), by('Bea'), by('Cleo')]);
  expect(await nameOf(WALLET)).toBe('Cleo');
  expect(sent).toEqual([[WALLET], [WALLET]]);
  stop();
});

test('a name whose insert failed is stored with the next trade of its wallet', async () => {
  let fails = true;
  const clickhouse: typeof store.clickhouse = {
    ...store.clickhouse,
    async insert(table, rows, options) {
      if (fails && table.startsWith('traders')) throw new Error('the store is down');
      await store.clickhouse.insert(table, rows, options);
    },
  };
  const names = new TradeNames({ clickhouse, platform: 'polymarket' });
  await expect(names.store([by('Dora')])).rejects.toThrow('the store is down');
  fails = false;
  await names.store([by('Dora')]);
  const traders = new TraderNames(store.clickhouse);
  expect((await traders.of([polymarket(WALLET)]))(polymarket(WALLET))?.name).toBe('Dora');
});

test('what was read before a message that may have been missed is not used', async () => {
  const { state, markets, names, statusOf, nameOf, stop } = await startProcesses();
  await markets.write('kalshi', [at('KXMISSED', 'open', 0)]);
  await names.store([by('Eve')]);
  expect([await statusOf('KXMISSED'), await nameOf(WALLET)]).toEqual(['open', 'Eve']);
  state.healthy = false;
  await markets.write('kalshi', [at('KXMISSED', 'closed', 1)]);
  await names.store([by('Fay')]);
  await sleep(600);
  state.healthy = true;
  expect([await statusOf('KXMISSED'), await nameOf(WALLET)]).toEqual(['closed', 'Fay']);
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
