import { randomInt } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PRICE_SCALE, decimalText } from '../../src/core/decimal.ts';
import { marketKey } from '../../src/core/market-key.ts';
import { HOUR_MS, storeTime } from '../../src/core/time.ts';
import { buildPresent } from '../../src/present/catch-up.ts';
import { ownKey } from '../../src/present/rows.ts';
import { heldBars } from '../../src/present/trades/bars.ts';
import { HeldVolumes, spannedMarket } from '../../src/present/trades/spanned.ts';
import { type Bar, firstBars } from '../../src/queries/bars.ts';
import { market, type MarketStore, startMarketStore, trade } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

const START = Date.parse('2026-03-07T00:00:00Z');
const TX = (n: number) => `0x${String(n % 10).repeat(64)}`;
const names = ['a', 'b', 'c'].map((id) => ({ id, name: id, tokenId: `${id}1` }));
const markets = {
  kalshi: market({ platform: 'kalshi', ref: 'KXBARS-1' }),
  polymarket: market({ platform: 'polymarket', ref: `0x${'cd'.repeat(32)}`, platformId: '88' }),
  limitless: market({ platform: 'limitless', ref: 'three-ways', outcomes: names }),
};
type Name = keyof typeof markets;

let store: MarketStore;
const stores = () => ({ clickhouse: store.clickhouse, postgres: store.app.postgres });
const all = () => true;

const person = (n: number) => ({ address: `0x${String(n).repeat(40)}`, name: '', pseudonym: '', profileImage: '' });

/** Some days of trades: many of one instant, prices that repeat, blocks, amounts that end in a half of the last digit. */
function someTrades(name: Name, count: number) {
  const of = markets[name];
  return Array.from({ length: count }, (_, n) => {
    const second = START + Math.floor(n / 6) * 900_000 + randomInt(2) * 1000;
    const hash = TX(randomInt(4));
    return trade({
      of,
      atMs: name === 'polymarket' ? second : second + randomInt(3) / 1000,
      price: decimalText(BigInt(randomInt(1, 100)) * 10n ** 8n + BigInt(randomInt(2)) * 5n * 10n ** 3n, PRICE_SCALE),
      size: `${randomInt(1, 50)}.${randomInt(1, 9)}`,
      outcome: of.info.outcomes[randomInt(of.info.outcomes.length)]!.id,
      isBlockTrade: randomInt(8) === 0,
      trader: name === 'kalshi' ? null : person(randomInt(3)),
      ...(name === 'polymarket'
        ? { transactionHash: hash, tradeId: `${hash}-${randomInt(10 ** 8, 10 ** 9)}-${String(n).padStart(8, '0')}` }
        : {}),
    });
  });
}

beforeAll(async () => {
  store = await startMarketStore();
  await buildPresent({ ...stores(), log: silent });
  await store.list(...Object.values(markets));
  for (const name of ['kalshi', 'polymarket', 'limitless'] as const) {
    await store.trade(...someTrades(name, 900));
    await store.cover(name, START, Date.now());
  }
});
afterAll(() => store.close());

const numbers = (bars: readonly Bar[]) =>
  bars.map(({ startTs, price, volume, notional, trades, priced }) => ({
    startTs,
    price: Object.values(price).map(Number),
    volume: Number(volume),
    notional: Number(notional),
    trades,
    priced,
  }));

test.each([60, 300, 3600, 14_400, 86_400])(
  'bars of %i seconds from PostgreSQL are those of ClickHouse, to the last digit',
  async (stepSeconds) => {
    const fromUs = START * 1000;
    for (const { info } of Object.values(markets)) {
      for (const series of info.outcomes.length > 2 ? [0, 1, 2] : [0]) {
        const range = { startTs: START / 1000 + stepSeconds, endTs: START / 1000 + 300 * 3600, stepSeconds };
        const query = { platform: info.platform, ref: info.ref, series, ...range, quotesAlone: false, gaps: [] };
        const history = { span: { fromUs, toUs: Date.now() * 1000 }, nowMs: Date.now() };
        const stored = await firstBars(stores(), { ...query, ...history }, 5000, all);
        const asked = vi.spyOn(store.clickhouse, 'query');
        const held = await firstBars(stores(), { ...query, ...history, isHeld: true }, 5000, all);
        const statements = asked.mock.calls.map(([name]) => name);
        asked.mockRestore();
        expect(stored.length).toBeGreaterThan(0);
        expect(numbers(held)).toEqual(numbers(stored));
        expect(statements).not.toContain('bars_of_trades');
      }
    }
  },
);

test('bars of callers who ask at the same time are those of callers who ask one after another', async () => {
  const refs = Object.values(markets).map(({ info }) => info);
  const hourOf = (n: number): string => new Date(START + n * HOUR_MS).toISOString();
  const hours = Array.from({ length: 200 }, (_, n) => n);
  const quotes = refs.flatMap(({ platform, ref }, m) =>
    hours.map((n) => ({ platform, ref, status: 'open', at: hourOf(n), bid: `0.${m + 1}`, ask: `0.${n % 9}9` })),
  );
  await store.clickhouse.insert('market_snapshots (platform, ref, status, at, bid, ask)', quotes);
  const candles = refs.flatMap(({ platform, ref }, m) =>
    hours.map((n) => {
      const traded = { open: '0.4', high: '0.6', low: '0.2', close: `0.${m + 1}`, volume: `${n}`, source: 'trades' };
      return Object.assign(traded, { platform, ref, interval_min: 60, t: hourOf(n) });
    }),
  );
  const columns = 'platform, ref, interval_min, t, open, high, low, close, volume, source';
  await store.clickhouse.insert(`platform_candles (${columns})`, candles);
  const spans = [null, { fromUs: START * 1000, toUs: Date.now() * 1000 }];
  const queries = refs.flatMap(({ platform, ref }) =>
    [3600, 14_400].flatMap((stepSeconds) =>
      [0, 96].flatMap((from) =>
        spans.map((span) => {
          const [startTs, endTs] = [START / 1000 + from * 3600, START / 1000 + (from + 100) * 3600];
          return { platform, ref, series: 0, stepSeconds, startTs, endTs, span, gaps: [], quotesAlone: from > 0 };
        }),
      ),
    ),
  );
  const read = (query: (typeof queries)[number]): Promise<Bar[]> =>
    firstBars(stores(), { ...query, nowMs: Date.now() }, 5000, all);
  const oneByOne: Bar[][] = [];
  for (const query of queries) oneByOne.push(await read(query));
  expect(Math.min(...oneByOne.map((bars) => bars.length))).toBeGreaterThan(9);
  expect(await Promise.all(queries.map(read))).toEqual(oneByOne);
});

const amounts = (volumes: object) => Object.entries(volumes).map(([name, amount]) => [name, Number(amount)]);

test('volumes from PostgreSQL are those of ClickHouse, to the last digit', async () => {
  for (const { platform, ref } of Object.values(markets).map(({ info }) => info)) {
    for (const atMs of [START + 20 * HOUR_MS + 450_000, START + 9 * 24 * HOUR_MS, START + 40 * 24 * HOUR_MS]) {
      const stored = await store.clickhouse.query('market_volumes', HeldVolumes, {
        platform,
        ref,
        at: storeTime(atMs),
      });
      const held = await spannedMarket(store.app.postgres, platform, ref, atMs);
      expect(amounts(held?.volumes ?? {})).toEqual(amounts(stored[0]!));
    }
  }
});

test('bars whose trades are not all in PostgreSQL come from ClickHouse', async () => {
  const { platform, ref } = markets.kalshi.info;
  const { db } = store.app.postgres;
  const query = { platform, ref, series: 0, stepSeconds: 3600, barSeconds: 3600, endTs: START / 1000 + 86_400 };
  const key = sql`${ownKey(marketKey({ platform, ref }))}::bigint`;
  const cut = (us: number) => db.execute(sql`UPDATE present_tapes SET from_us = ${us}::bigint WHERE key = ${key}`);
  const from = (startMs: number) => heldBars({ db }, { ...query, startTs: startMs / 1000 });
  await cut((START + HOUR_MS) * 1000 + 1);
  expect(await from(START + HOUR_MS)).toBeNull();
  const cutOff = await from(START + 2 * HOUR_MS);
  expect(cutOff?.bars.length).toBeGreaterThan(0);
  // A price before the trades that are there may be in ClickHouse.
  await cut((START + 2 * HOUR_MS) * 1000);
  expect(await from(START + 2 * HOUR_MS)).toEqual({ bars: cutOff?.bars, before: undefined });
  await db.execute(
    sql`UPDATE present_feeds SET kept_us = ${(START + 3 * HOUR_MS) * 1000}::bigint WHERE platform = ${platform}`,
  );
  expect(await from(START + 2 * HOUR_MS)).toBeNull();
  await db.execute(sql`UPDATE present_feeds SET kept_us = 0 WHERE platform = ${platform}`);
  await db.execute(sql`UPDATE present_tapes SET from_us = 0`);
});
