import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { TradeNames } from '../../ingest/trade-names.ts';
import type { TradeRecord } from '../../src/core/model.ts';
import { storedNames, TraderNames } from '../../src/queries/trader-names.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';
import { market, startMarketStore, trade, type MarketStore } from '../helpers/market-store.ts';
import { noCopier } from '../helpers/trade-writer.ts';

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store.close());

const wallet = (digits: string): string => `0x${digits.repeat(20)}`;
const by = (address: string, name: string): TradeRecord => ({
  ...trade({ of: market({ platform: 'polymarket', ref: `0x${'1'.repeat(64)}` }), atMs: 0, price: '0.5', size: '1' }),
  trader: { address, name, pseudonym: '', profileImage: '' },
});
/** Reads the name of a wallet, and the statements to ClickHouse that it took. */
function reader() {
  const asked: string[] = [];
  const clickhouse: Pick<typeof store.clickhouse, 'query'> = {
    query(name, ...rest) {
      asked.push(name);
      return store.clickhouse.query(name, ...rest);
    },
  };
  const clock = virtualClock();
  const names = new TraderNames({ clickhouse, postgres: store.app.postgres, clock });
  return {
    clock,
    async nameOf(address: string, platform: 'polymarket' | 'limitless' = 'polymarket') {
      const one = { platform, wallet: address };
      const named = await names.of([one, one]);
      return { name: named(one)?.name, asked: asked.splice(0) };
    },
  };
}
const nameOf = (...asked: Parameters<ReturnType<typeof reader>['nameOf']>) => reader().nameOf(...asked);
const writerOf = (copier: Pick<MarketStore['copiers']['polymarket'], 'named'> = noCopier) =>
  new TradeNames({
    clickhouse: store.clickhouse,
    platform: 'polymarket',
    copier,
    isUrgent: () => false,
    clock: systemClock,
  });

test('the last reported name of a wallet comes from PostgreSQL, whatever case its address was reported in', async () => {
  const names = writerOf(store.copiers.polymarket);
  await names.store([by(wallet('Ab'), 'Ann')]);
  expect(await nameOf(wallet('ab'))).toEqual({ name: 'Ann', asked: [] });
  await names.store([by(wallet('ab'), 'Ann')]);
  await names.store([by(wallet('ab'), 'Ann'), by(wallet('ab'), 'Bea'), by(wallet('ab'), 'Cleo')]);
  expect(await nameOf(wallet('ab'))).toEqual({ name: 'Cleo', asked: [] });
});

test('a name that was stored and not copied comes from ClickHouse', async () => {
  await writerOf().store([by(wallet('cd'), 'Dora')]);
  expect(await nameOf(wallet('cd'))).toEqual({ name: 'Dora', asked: ['traders'] });
});

test('what ClickHouse says of a wallet is kept for ten minutes, unless a newer name is copied', async () => {
  await writerOf().store([by(wallet('34'), 'Gil')]);
  const { clock, nameOf } = reader();
  const [named, unnamed] = [wallet('34'), wallet('56')];
  expect(await nameOf(named)).toEqual({ name: 'Gil', asked: ['traders'] });
  expect(await nameOf(unnamed)).toEqual({ name: undefined, asked: ['traders'] });
  expect(await nameOf(named)).toEqual({ name: 'Gil', asked: [] });
  expect(await nameOf(unnamed)).toEqual({ name: undefined, asked: [] });
  await clock.advance(10 * 60_000 + 1);
  expect(await nameOf(unnamed)).toEqual({ name: undefined, asked: ['traders'] });
  await writerOf(store.copiers.polymarket).store([by(unnamed, 'Hal')]);
  expect(await nameOf(unnamed)).toEqual({ name: 'Hal', asked: [] });
});

test('a wallet has no name of another platform, nor has one that nobody reported', async () => {
  await writerOf(store.copiers.polymarket).store([by(wallet('ef'), 'Eve')]);
  expect((await nameOf(wallet('ef'), 'limitless')).name).toBeUndefined();
  expect((await nameOf(wallet('00'))).name).toBeUndefined();
  expect(await nameOf('')).toEqual({ name: undefined, asked: [] });
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
  const names = new TradeNames({
    clickhouse,
    platform: 'polymarket',
    copier: noCopier,
    isUrgent: () => false,
    clock: systemClock,
  });
  await expect(names.store([by(wallet('12'), 'Fay')])).rejects.toThrow('the store is down');
  fails = false;
  await names.store([by(wallet('12'), 'Fay')]);
  expect((await nameOf(wallet('12'))).name).toBe('Fay');
});

test('names of thousands of wallets are asked for in lists that every server takes', async () => {
  const wallets = Array.from({ length: 4001 }, (_, n) => ({
    platform: 'polymarket' as const,
    wallet: `0x${n.toString(16).padStart(40, '0')}`,
  }));
  const lists: string[][] = [];
  const query: ClickHouse['query'] = async (_name, row, params) => {
    const asked = params?.['wallets'] as string[];
    lists.push(asked);
    const made = asked.map((wallet) => ({
      platform: 'polymarket',
      wallet,
      name: wallet.slice(-4),
      pseudonym: '',
      profile_image: '',
    }));
    return made.map((one) => row.parse(one));
  };
  const nameOf = await storedNames({ query }, wallets);
  expect(lists.map((list) => list.length)).toEqual([2000, 2000, 1]);
  expect(Math.max(...lists.map((list) => JSON.stringify(list).length))).toBeLessThan(128 * 1024);
  expect(wallets.every((wallet) => nameOf(wallet)?.name === wallet.wallet.slice(-4))).toBe(true);
});
