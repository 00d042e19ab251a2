import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { parsePrice } from '../../src/core/decimal.ts';
import { systemClock } from '../../src/core/time.ts';
import { FailureBackoff } from '../../ingest/failure-backoff.ts';
import { TradeInserts } from '../../ingest/spool/trade-inserts.ts';
import { pollMarketTrades, readMarketHistory } from '../../ingest/trades.ts';
import { readCoverage, Watermarks } from '../../ingest/watermarks.ts';
import type { PlatformError } from '../../src/core/errors.ts';
import type { Platform } from '../../src/core/model.ts';
import { type PlatformData, TradeFeedGap, type TradePage, type TradeQuery } from '../../src/platforms/contract.ts';
import { microsecondText } from '../../src/stores/clickhouse/insert-rows.ts';
import { directory, run } from '../helpers/job-run.ts';
import { type MarketStore, market, startMarketStore, trade, usd } from '../helpers/market-store.ts';
import { noCopier, noListeners } from '../helpers/trade-writer.ts';
import { silent } from '../helpers/silent-log.ts';

const platformThat = (does: Partial<PlatformData>): PlatformData => does as PlatformData;

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore();
});
afterAll(() => store?.close());

const tradesOf = (platform: Platform) => ({
  clickhouse: store.clickhouse,
  writer: store.writers[platform],
  watermarks: new Watermarks(store.clickhouse, platform, systemClock, noCopier),
  log: silent,
  directory,
  backfillDays: 7,
  clock: { now: Date.now },
  backoff: new FailureBackoff<PlatformError>(systemClock),
  ...noListeners,
});

/** A platform without trades, and the markets whose trades are asked for. */
function quietPlatform() {
  const asked: (string | undefined)[] = [];
  const data = platformThat({
    platform: 'limitless',
    tradeOverlapMs: 300_000,
    async *trades({ sinceUs, market: of }: TradeQuery) {
      asked.push(of?.ref);
      yield { trades: [], completeFromUs: sinceUs };
    },
  });
  return { asked, data };
}

/** Stores the span of a market that was read some seconds ago, Unix ms. */
const cover = (ref: string, marker: string, nowMs: number, secondsAgo: number): Promise<void> =>
  store.clickhouse.insert('trade_coverage (platform, ref, complete_from, complete_to, marker, version)', [
    {
      platform: 'limitless',
      ref,
      complete_from: microsecondText((nowMs - 8 * 86_400_000) * 1000),
      complete_to: microsecondText(nowMs * 1000),
      marker,
      version: microsecondText((nowMs - secondsAgo * 1000) * 1000),
    },
  ]);

test('a market whose volume moved is read once more when no cache can answer with the page of the first read', async () => {
  const { asked, data } = quietPlatform();
  const now = Date.now();
  for (const seconds of [55, 70]) {
    const ref = `read-${seconds}-s-ago`;
    await store.list(market({ platform: 'limitless', ref, state: { volumeTotal: usd('5') } }));
    await cover(ref, '5?', now, seconds);
  }
  for (let polls = 0; polls < 2; polls++) await pollMarketTrades(tradesOf('limitless'), data, run);
  expect(asked).toEqual(['read-70-s-ago']);
});

test('an unsettled market whose volume is unknown is read as often as a cache changes, a settled one once', async () => {
  const { asked, data } = quietPlatform();
  const now = Date.now();
  const listed = [
    { ref: 'odd-new', status: 'open', readS: null },
    { ref: 'odd-20', status: 'open', readS: 20 },
    { ref: 'odd-70', status: 'open', readS: 70 },
    { ref: 'odd-settled-new', status: 'settled', readS: null },
    { ref: 'odd-settled-70', status: 'settled', readS: 70 },
  ] as const;
  await store.list(
    ...listed.map(({ ref, status }) => {
      const record = market({ platform: 'limitless', ref, state: { volumeTotal: null } });
      return { ...record, state: { ...record.state, status } };
    }),
  );
  for (const { ref, readS } of listed) if (readS !== null) await cover(ref, '', now, readS);
  for (let polls = 0; polls < 2; polls++) await pollMarketTrades(tradesOf('limitless'), data, run);
  expect(asked.filter((ref) => ref?.startsWith('odd-')).toSorted()).toEqual(['odd-70', 'odd-new', 'odd-settled-new']);
});

test('of markets that were never read, the most traded are read first', async () => {
  const { asked, data } = quietPlatform();
  const volumes = { 'a-small': '7', 'b-large': '90000', 'c-middling': '800' };
  for (const [ref, volume] of Object.entries(volumes)) {
    await store.list(market({ platform: 'limitless', ref, state: { volumeTotal: usd(volume) } }));
  }
  await pollMarketTrades(tradesOf('limitless'), data, run);
  expect(asked.filter((ref) => ref !== undefined && ref in volumes)).toEqual(['b-large', 'c-middling', 'a-small']);
});

test('a poll of many markets looks their spans up with one statement', async () => {
  const data = platformThat({
    platform: 'limitless',
    tradeOverlapMs: 300_000,
    async *trades({ sinceUs }: TradeQuery) {
      yield { trades: [], completeFromUs: sinceUs };
    },
  });
  const many = ['span-1', 'span-2', 'span-3'].map((ref) =>
    market({ platform: 'limitless', ref, state: { volumeTotal: usd('9') } }),
  );
  await store.list(...many);
  const query = vi.spyOn(store.clickhouse, 'query');
  onTestFinished(() => query.mockRestore());
  await pollMarketTrades(tradesOf('limitless'), data, run);
  const asked = query.mock.calls.filter(([name]) => name === 'trade_coverage').map(([, , params]) => params?.['refs']);
  expect(asked[0]).toEqual(expect.arrayContaining(['span-1', 'span-2', 'span-3']));
  expect(asked.slice(1)).toEqual([['']]);
});

const now = Date.now();
const us = (daysAgo: number): number => (now - daysAgo * 86_400_000) * 1000;

/** Reads a requested history twice; what was asked for, and the start of the stored span. */
async function readTwice(ref: string, trades: (query: TradeQuery) => AsyncGenerator<TradePage>) {
  let asked = 0;
  const data = platformThat({
    platform: 'polymarket',
    tradeOverlapMs: 300_000,
    trades(query) {
      asked += 1;
      return trades(query);
    },
  });
  const request = { platform: 'polymarket', ref, sinceUs: us(2000), user: 'ann' } as const;
  for (let reads = 0; reads < 2; reads++) await readMarketHistory(tradesOf('polymarket'), data, request, run);
  const span = await readCoverage(store.clickhouse, 'polymarket', ref);
  return { asked, fromUs: span?.fromUs ?? null };
}

test('a requested history that the feed does not reach is complete from the start of the feed on, and is read once', async () => {
  const read = await readTwice('0xold', async function* () {
    yield { trades: [], completeFromUs: us(500) };
    yield { trades: [], completeFromUs: us(1000) };
  });
  expect(read).toEqual({ asked: 1, fromUs: us(1000) });
});

test('a requested history that a platform cuts off is stored as far as it goes, and is read once', async () => {
  const ref = '0xcut';
  const of = market({ platform: 'polymarket', ref });
  await store.list(of);
  const read = await readTwice(ref, async function* ({ sinceUs }) {
    const trades = [trade({ of, atMs: us(999) / 1000, price: '0.5', size: '3' })];
    yield { trades, completeFromUs: us(999) + 1_000_000 };
    throw new TradeFeedGap(sinceUs, us(999));
  });
  expect(read).toEqual({ asked: 1, fromUs: us(999) + 1_000_000 });
  const stored = "SELECT trade_id FROM trades WHERE market_key = sipHash64('polymarket', {ref:String})";
  expect(await store.clickhouse.sql(stored, { ref })).toHaveLength(1);
});

test('the history that a client asks for is stored without waiting for the rows of others', async () => {
  const of = market({ platform: 'polymarket', ref: '0xasked' });
  await store.list(of);
  const insert = vi.spyOn(store.clickhouse, 'insert');
  const add = vi.spyOn(TradeInserts.prototype, 'add');
  await readTwice('0xasked', async function* () {
    yield { trades: [trade({ of, atMs: us(999) / 1000, price: '0.5', size: '3' })], completeFromUs: us(1000) };
  });
  const single = insert.mock.calls.filter(([, rows, options]) => rows.length > 0 && options?.token === undefined);
  expect(single.map(([table, , options]) => [table.split(' ')[0], options])).toEqual([
    ['market_refs', { isUrgent: true }],
    ['trade_coverage', { isUrgent: true }],
  ]);
  expect(add.mock.calls.map(([, , , urgency]) => urgency)).toEqual([{ isUrgent: true }]);
});

test('a market that has ended shows its trades in USD as soon as the history that a client asks for is whole', async () => {
  const of = market({
    platform: 'polymarket',
    ref: '0xover',
    platformId: '77',
    tradingStartAt: new Date(us(20) / 1000).toISOString(),
    state: { status: 'settled', volumeTotal: usd('8') },
  });
  await store.list(of);
  const deps = {
    ...tradesOf('polymarket'),
    onTradesStored: async (refs: Iterable<string>) => store.present.changed('polymarket', refs),
  };
  const data = platformThat({
    platform: 'polymarket',
    tradeOverlapMs: 300_000,
    async *trades({ sinceUs }: TradeQuery) {
      yield { trades: [trade({ of, atMs: us(15) / 1000, price: '0.5', size: '3' })], completeFromUs: sinceUs };
    },
  });
  const request = { platform: 'polymarket', ref: '0xover', sinceUs: us(20), user: 'ann' } as const;
  await readMarketHistory(deps, data, request, run);
  await store.present.settled();
  const { markets } = await store.get<{ markets: object[] }>('markets/id/77?provider=polymarket');
  expect(markets).toMatchObject([{ volume_total_usd: 1.5, usd_basis: { volume_total: 'traded' } }]);
});

test('a market without a feed gets no span', async () => {
  const read = await readTwice('gamma:1', async function* () {});
  expect(read.fromUs).toBeNull();
});

test('the stored price of a market counts beside its quotes once it has traded', async () => {
  const quiet = {
    yes: { price: parsePrice('0.5'), bid: null, ask: null },
    no: { price: parsePrice('0.5'), bid: null, ask: null },
  };
  const state = { volumeTotal: 0n, quotes: [quiet.yes, quiet.no] };
  const [never, first] = ['quote-never', 'quote-first'].map((ref) => market({ platform: 'limitless', ref, state }));
  await store.list(never!, first!);
  await store.trade(trade({ of: first!, atMs: Date.now() - 5000, price: '0.25', size: '4' }));
  const refs = [never, first].map((one) => one!.info.ref);
  const Row = z.object({ ref: z.string(), price: z.string().nullable() });
  const rows = await store.clickhouse.query('socket_quotes', Row, { platforms: ['limitless', 'limitless'], refs });
  const prices = new Map(rows.map(({ ref, price }) => [ref, price === null ? null : Number(price)]));
  expect([prices.get('quote-never'), prices.get('quote-first')]).toEqual([null, expect.any(Number)]);
});
