import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { buildPresent } from '../../src/present/catch-up.ts';
import { PresentMarkets } from '../../src/markets/present-markets.ts';
import { heldSpans, heldTape } from '../../src/present/trades/read.ts';
import { FEED_KEY } from '../../src/present/trades/rows.ts';
import { microsecondText } from '../../src/stores/clickhouse/insert-rows.ts';
import { pricesAt } from '../../src/queries/prices-at.ts';
import { LEASE, market, type MarketStore, quotes, startMarketStore, trade, usd } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';
import { tapeDifferences } from '../helpers/tapes.ts';

interface Page {
  trades: { trade_id: string; price: number; user: { name: string }; metadata: Record<string, unknown> }[];
  pagination: { total: number; has_more: boolean; next_cursor: string | null };
  meta: { complete_from: string | null; older_trades: string; data_freshness: string | null };
}

const TX = `0x${'7a'.repeat(32)}`;
const kalshi = market({ platform: 'kalshi', ref: 'KXTAPE-1', tradingStartAt: '2026-01-01T00:00:00.000Z' });
const poly = market({ platform: 'polymarket', ref: `0x${'ab'.repeat(32)}`, platformId: '77' });
const person = (name: string) => ({ address: `0x${'11'.repeat(20)}`, name, pseudonym: 'p', profileImage: '' });

let store: MarketStore;
const stores = () => ({ clickhouse: store.clickhouse, postgres: store.app.postgres, log: silent });
const markets = () => new PresentMarkets({ ...store.app.deps, ...stores(), fetchMarket: async () => null });
const unlike = async () => [
  ...(await tapeDifferences(stores(), 'kalshi')),
  ...(await tapeDifferences(stores(), 'polymarket')),
];
const page = (id: string, provider: string, more = '') =>
  store.get<Page>(`markets/trades?provider=${provider}&market_id=${id}${more}`);
const freshTo = async () => (await page('KXTAPE-1', 'kalshi', '&limit=1')).meta.data_freshness;

/** What is asked of the stores during a call. */
async function asking<T>(call: () => Promise<T>): Promise<{ answer: T; clickhouse: string[]; postgres: number }> {
  const asked = vi.spyOn(store.clickhouse, 'query');
  const run = vi.spyOn(store.app.postgres.db, 'execute');
  const answer = await call();
  const names = asked.mock.calls.map(([name]) => name).filter((name) => name !== 'freshness');
  const statements = run.mock.calls.filter(([query]) => JSON.stringify(query).includes('present_')).length;
  asked.mockRestore();
  run.mockRestore();
  return { answer, clickhouse: names, postgres: statements };
}

beforeAll(async () => {
  store = await startMarketStore();
  await buildPresent(stores());
  await store.list(kalshi, poly);
});
afterAll(() => store.close());

test('a page of newest trades is one statement to PostgreSQL and none to ClickHouse, and has what was just stored', async () => {
  const nowMs = Date.now();
  await store.cover('kalshi', nowMs - 60_000, nowMs - 10_000);
  const made = [1, 2, 3].map((n) => trade({ of: kalshi, atMs: nowMs - n * 1000, price: `0.4${n}`, size: '5' }));
  await store.writers.kalshi.write(made, LEASE);
  const { answer, ...asked } = await asking(() => page('KXTAPE-1', 'kalshi'));
  expect(answer.trades.map(({ trade_id: id }) => id)).toEqual(made.map(({ tradeId }) => tradeId));
  expect(answer.meta).toMatchObject({ complete_from: new Date(nowMs - 60_000).toISOString(), older_trades: 'unknown' });
  expect(asked).toEqual({ clickhouse: [], postgres: 1 });
  expect(await unlike()).toEqual([]);
});

test('both stores give the same page, with the names of its traders as last reported', async () => {
  const atMs = Date.now() - 3000;
  const shared = { of: poly, atMs, size: '2', transactionHash: TX };
  await store.trade(
    trade({ ...shared, price: '0.6', tradeId: `${TX}-12345678-0abcdef0`, trader: person('First') }),
    trade({ ...shared, price: '0.61', tradeId: `${TX}-12345678-0abcdef1` }),
    trade({ of: poly, atMs, price: '0.25', size: '1.5', outcome: 'no', transactionHash: TX, trader: person('Second') }),
  );
  const held = await asking(() => page('77', 'polymarket', '&limit=2'));
  expect(held.clickhouse).toEqual([]);
  expect(held.answer.trades.flatMap(({ user }) => user.name || [])).not.toContain('First');
  await store.app.postgres.db.execute(sql`UPDATE present_feeds SET is_built = false`);
  await store.app.postgres.db.execute(sql`DELETE FROM present_tapes WHERE platform = 'polymarket'`);
  const stored = await asking(() => page('77', 'polymarket', '&limit=2'));
  expect(stored.clickhouse).toContain('market_trades');
  expect({ ...stored.answer, meta: null, pagination: null }).toEqual({ ...held.answer, meta: null, pagination: null });
  // A cursor of one store continues in the other.
  const rest = await page('77', 'polymarket', `&limit=2&cursor=${held.answer.pagination.next_cursor}`);
  await buildPresent(stores(), { again: true });
  await store.copiers.polymarket.catchUp(0);
  await store.copiers.kalshi.catchUp(0);
  const again = await asking(() => page('77', 'polymarket', `&limit=2&cursor=${stored.answer.pagination.next_cursor}`));
  expect(again.clickhouse).toEqual([]);
  expect(again.answer.trades).toEqual(rest.trades);
  expect(rest.trades).toHaveLength(1);
  expect(await unlike()).toEqual([]);
});

test('a page is newest first, whichever way PostgreSQL joins its trades with the names of their traders', async () => {
  const of = { of: poly, size: '1', price: '0.4' };
  const atMs = Date.now() - 20_000;
  // The wallets are in another order than the trades.
  const made = ['31', '11', '21', '12', '32', '22'].map((wallet, n) =>
    trade({ ...of, atMs: atMs - n * 1000, trader: { ...person(wallet), address: `0x${wallet.repeat(20)}` } }),
  );
  await store.trade(...made);
  const ways = ['enable_nestloop', 'enable_hashjoin', 'enable_mergejoin'];
  for (const only of ways) {
    const tape = await store.app.postgres.db.transaction(async (db) => {
      for (const way of ways) await db.execute(sql.raw(`SET LOCAL ${way} = ${way === only ? 'on' : 'off'}`));
      return heldTape({ db }, 'polymarket', '77', { after: null, limit: 100 });
    });
    const times = tape!.trades.map(({ executed_at_us: us }) => us);
    expect(times.length).toBeGreaterThanOrEqual(made.length);
    expect(times, only).toEqual(times.toSorted((a, b) => b - a));
  }
});

test('both stores give the USDC that a trade of Limitless moved, which price × size may miss', async () => {
  const limitless = market({ platform: 'limitless', ref: 'm-1' });
  await store.list(limitless);
  const of = { of: limitless, size: '2.5', price: '0.332' };
  const made = (atMs: number, quoteUsd: bigint | null) => store.trade(trade({ ...of, atMs, quoteUsd }));
  const paid = async () =>
    asking(async () => {
      const { trades } = await store.get<Page>('markets/id/m-1/trades?provider=limitless');
      return trades.map(({ metadata }) => metadata['usdc']);
    });
  const nowMs = Date.now();
  await made(nowMs - 2, null);
  await made(nowMs - 1, usd('0.8311'));
  await store.app.postgres.db.execute(sql`UPDATE present_feeds SET is_built = false WHERE platform = 'limitless'`);
  await store.app.postgres.db.execute(sql`DELETE FROM present_tapes WHERE platform = 'limitless'`);
  expect(await paid()).toMatchObject({
    answer: [0.8311, undefined],
    clickhouse: ['market_trades', 'market_trade_count'],
  });
  await buildPresent(stores(), { again: true });
  for (const copier of Object.values(store.copiers)) await copier.catchUp(0);
  await made(nowMs, usd('0.83'));
  expect(await paid()).toMatchObject({ answer: [0.83, 0.8311, undefined], clickhouse: [] });
  expect(await tapeDifferences(stores(), 'limitless')).toEqual([]);
});

test('a name that no text of PostgreSQL holds costs its odd characters, never the copies of others', async () => {
  const atMs = Date.now() - 500;
  const of = { of: poly, atMs, size: '1' };
  await store.trade(
    trade({ ...of, price: '0.3', trader: { ...person('Zoe\0\ud800'), address: `0x${'22'.repeat(20)}` } }),
    trade({ ...of, price: '0.31', trader: { ...person('Ann \\u0000'), address: `0x${'33'.repeat(20)}` } }),
  );
  const held = await asking(() => page('77', 'polymarket', '&limit=2'));
  expect(held.clickhouse).toEqual([]);
  expect(held.answer.trades.map(({ user }) => user.name).toSorted()).toEqual(['Ann \\u0000', 'Zoe\ufffd']);
});

test('ingestion goes on while PostgreSQL is away, pages come from ClickHouse, and a catch-up brings what is missing', async () => {
  const { db } = store.app.postgres;
  const away = vi.spyOn(db, 'transaction').mockRejectedValue(new Error('unreachable'));
  const nowMs = Date.now();
  const [lost, other] = [1, 2].map((n) => trade({ of: kalshi, atMs: nowMs - n, price: '0.5', size: '1' }));
  expect(await store.writers.kalshi.write([lost!], LEASE)).toBe(1);
  away.mockRestore();
  expect(await store.writers.kalshi.write([other!], LEASE)).toBe(1);
  await store.cover('kalshi', nowMs - 60_000, nowMs);
  // Answers state the watermarks read last while they are read again.
  await expect.poll(freshTo, { timeout: 10_000 }).toBe(new Date(nowMs).toISOString());
  const behind = await asking(() => page('KXTAPE-1', 'kalshi', '&limit=2'));
  expect(behind.answer.trades.map(({ trade_id: id }) => id)).toEqual([lost!.tradeId, other!.tradeId]);
  expect(behind.clickhouse).toContain('market_trades');
  await store.copiers.kalshi.catchUp(nowMs);
  const whole = await asking(() => page('KXTAPE-1', 'kalshi', '&limit=2'));
  expect(whole.answer.trades).toEqual(behind.answer.trades);
  expect(whole.clickhouse).toEqual([]);
  expect(await unlike()).toEqual([]);
});

test('a copy that is made again has the spans of ClickHouse alone, though those before were later', async () => {
  await store.cover('kalshi', Date.now() - 60_000, Date.now());
  await store.clickhouse.command("DELETE FROM trade_coverage WHERE platform = 'kalshi'");
  await buildPresent(stores(), { again: true });
  for (const copier of [store.copiers.kalshi, store.copiers.polymarket]) await copier.catchUp(0);
  expect(await unlike()).toEqual([]);
});

test('of a market with many trades PostgreSQL keeps the newest, and deeper pages come from ClickHouse', async () => {
  const many = market({ platform: 'kalshi', ref: 'KXMANY-1' });
  await store.list(many);
  const nowMs = Date.now();
  const made = Array.from({ length: 1500 }, (_, n) =>
    trade({ of: many, atMs: nowMs - n * 10, price: '0.5', size: '1' }),
  );
  const newer = [3, 2, 1].map((n) => trade({ of: many, atMs: nowMs + n, price: '0.5', size: '1' }));
  for (let at = 0; at < made.length; at += 500) await store.trade(...made.slice(at, at + 500));
  expect(await unlike()).toEqual([]);
  // Copied before the state of their market is.
  await store.writers.kalshi.write(newer, LEASE);
  // Answers state the freshness read last, which may be that of the spans before these.
  const first = await vi.waitFor(
    async () => {
      const asked = await asking(() => page('KXMANY-1', 'kalshi', '&limit=600'));
      expect(asked.clickhouse).toEqual(['market_trade_count']);
      return asked;
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(first.answer.pagination.total).toBe(1503);
  const second = await page('KXMANY-1', 'kalshi', `&limit=600&cursor=${first.answer.pagination.next_cursor}`);
  const third = await asking(() => page('KXMANY-1', 'kalshi', `&limit=600&cursor=${second.pagination.next_cursor}`));
  expect(third.clickhouse).toContain('market_trades');
  const ids = [first.answer, second, third.answer].flatMap(({ trades }) => trades.map(({ trade_id: id }) => id));
  expect(ids).toEqual([...newer, ...made].map(({ tradeId }) => tradeId));
});

test('the total of a list counts trades that were just stored, before the state of their market is copied', async () => {
  const fresh = market({ platform: 'kalshi', ref: 'KXFRESH-1' });
  await store.list(fresh);
  const nowMs = Date.now();
  const made = [1, 2, 3].map((n) => trade({ of: fresh, atMs: nowMs - n * 1000, price: '0.5', size: '1' }));
  await store.writers.kalshi.write(made, LEASE);
  const { trades, pagination } = await page('KXFRESH-1', 'kalshi', '&limit=1');
  expect([trades.length, pagination.total]).toEqual([1, 3]);
  const next = await page('KXFRESH-1', 'kalshi', `&limit=1&cursor=${pagination.next_cursor}`);
  expect(next.pagination.total).toBe(3);
});

test('a backfill is not copied as it is stored, and its markets are read from ClickHouse later', async () => {
  const old = market({ platform: 'kalshi', ref: 'KXOLD-1' });
  await store.list(old);
  const nowMs = Date.now();
  const live = trade({ of: old, atMs: nowMs, price: '0.5', size: '1' });
  const past = Array.from({ length: 1200 }, (_, n) =>
    trade({ of: old, atMs: nowMs - 7_200_000 - n * 1000, price: '0.5', size: '1' }),
  );
  await store.trade(live, ...past);
  const { db } = store.app.postgres;
  const copied = await db.execute(sql`SELECT rows FROM present_tapes ORDER BY last_us DESC LIMIT 1`);
  expect(copied).toMatchObject({ rows: [{ rows: 1 }] });
  expect(await unlike()).toEqual([]);
  expect((await asking(() => page('KXOLD-1', 'kalshi', '&limit=50'))).clickhouse).toContain('market_trades');
  await db.execute(sql`UPDATE present_tapes SET fill_at = now() WHERE fill_at IS NOT NULL`);
  await store.copiers.kalshi.catchUp(nowMs);
  expect((await asking(() => page('KXOLD-1', 'kalshi', '&limit=51'))).clickhouse).toEqual(['market_trade_count']);
  expect(await unlike()).toEqual([]);
});

test('trades of a backfill that are stored after their market was read have it read again', async () => {
  const [busy, quiet] = ['KXBUSY-1', 'KXQUIET-1'].map((ref) => market({ platform: 'kalshi', ref }));
  await store.list(busy!, quiet!);
  const { db } = store.app.postgres;
  const nowMs = Date.now();
  /** Too many to be copied at once; each batch is older than those before. */
  const storeBatch = (batch: number) =>
    store.trade(
      ...Array.from({ length: 1001 }, (_, n) =>
        trade({ of: n === 0 ? quiet! : busy!, atMs: nowMs - batch * 7_200_000 - n, price: '0.5', size: '1' }),
      ),
    );
  const makeDue = () => db.execute(sql`UPDATE present_tapes SET fill_at = now() WHERE fill_at IS NOT NULL`);
  await storeBatch(1);
  await makeDue();
  const execute = db.execute.bind(db);
  const run = vi.spyOn(db, 'execute').mockImplementation((async (query: Parameters<typeof execute>[0]) => {
    const found = await execute(query);
    if (JSON.stringify(query).includes('fill_at <= now() ORDER BY t.last_us')) {
      run.mockRestore();
      await storeBatch(2);
    }
    return found;
  }) as typeof db.execute);
  await store.copiers.kalshi.catchUp(nowMs);
  await storeBatch(3);
  expect(await unlike()).toEqual([]);
  await makeDue();
  await store.copiers.kalshi.catchUp(nowMs);
  expect((await page('KXQUIET-1', 'kalshi')).trades).toHaveLength(3);
  expect(await unlike()).toEqual([]);
});

test('prices of now come from PostgreSQL as ClickHouse has them; markets without a trade are asked for there', async () => {
  const resolvedAt = new Date(Date.now() - 60_000).toISOString();
  const paid = market({
    platform: 'kalshi',
    ref: 'KXPAID-1',
    state: { status: 'settled', resolvedAt, quotes: quotes('1') },
  });
  const three = ['a', 'b', 'c'].map((id) => ({ id, name: id, tokenId: '' }));
  const many = market({ platform: 'kalshi', ref: 'KXTHREE-1', outcomes: three });
  const untraded = market({ platform: 'kalshi', ref: 'KXNONE-1', state: { quotes: quotes('0.3') } });
  const old = market({ platform: 'kalshi', ref: 'KXSEEN-1', state: { status: 'settled', quotes: quotes('0') } });
  await store.list(paid, many, untraded, old);
  const atMs = Date.now() - 2000;
  await store.trade(
    trade({ of: paid, atMs, price: '0.9', size: '1' }),
    trade({ of: many, atMs, price: '0.2', size: '1', outcome: 'a' }),
    trade({ of: many, atMs: atMs - 5, price: '0.7', size: '1', outcome: 'c' }),
    trade({ of: kalshi, atMs, price: '0.31', size: '1', outcome: 'no' }),
    trade({ of: kalshi, atMs: atMs + 1, price: '0.99', size: '1', isBlockTrade: true }),
    trade({ of: kalshi, atMs: Date.now() + 3_600_000, price: '0.98', size: '1' }),
  );
  const prices = (ids: string) =>
    store.get<{ data: { market_id: string }[] }>(`markets/prices?provider=kalshi&market_ids=${ids}`);
  const traded = await asking(() => prices('KXTAPE-1,KXPAID-1,KXTHREE-1'));
  expect({ clickhouse: traded.clickhouse, postgres: traded.postgres }).toEqual({ clickhouse: [], postgres: 1 });
  const all = await asking(() => prices('KXTAPE-1,KXPAID-1,KXTHREE-1,KXNONE-1,KXSEEN-1'));
  expect(all.clickhouse).toEqual(['prices_at']);
  const ids = ['KXTAPE-1', 'KXPAID-1', 'KXTHREE-1', 'KXNONE-1', 'KXSEEN-1'];
  const found = await markets().storedByAnyIds('kalshi', ids);
  const truth = await pricesAt(store.clickhouse, [...found.values()], Date.now());
  expect(all.answer.data).toEqual(truth);
  expect(traded.answer.data).toEqual(truth.slice(0, 3));
  expect(truth.map(({ source }) => source)).toEqual(['trade', 'payout', 'trade', 'quote', 'payout']);
});

test('histories and whales know how complete they are without asking ClickHouse', async () => {
  const nowS = Math.floor(Date.now() / 1000);
  await store.cover('kalshi', Date.now() - 86_400_000, Date.now());
  for (const path of [
    `markets/price-history?provider=kalshi&market_ids=KXTAPE-1&start_ts=${nowS - 600}&end_ts=${nowS}&interval=1`,
    `metrics/historical?platform=kalshi&market_id=KXTAPE-1&start_ts=${nowS - 600}`,
    'trades/whales?platform=kalshi',
  ]) {
    const { clickhouse } = await asking(() => store.get(path));
    expect([path, clickhouse.filter((name) => name === 'trade_spans' || name === 'trade_gaps')]).toEqual([path, []]);
  }
});

test('a gap that is stored while the gaps are being copied is copied too', async () => {
  const { kalshi: copier } = store.copiers;
  const [fromMs, toMs] = [Date.now() - 3_600_000, Date.now() - 1_800_000];
  const [gap_from, gap_to] = [fromMs, toMs].map((ms) => microsecondText(ms * 1000));
  const query = store.clickhouse.query.bind(store.clickhouse);
  let letGo: () => void = Object;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let second = held;
  const slow = vi.spyOn(store.clickhouse, 'query').mockImplementationOnce(async (...asked) => {
    const rows = await query(...asked);
    await store.clickhouse.insert('trade_gaps (platform, gap_from, gap_to, filled)', [
      { platform: 'kalshi', gap_from, gap_to, filled: 0 },
    ]);
    second = copier.gapsMoved();
    await Promise.race([second, held]);
    return rows as never;
  });
  const first = copier.gapsMoved();
  setTimeout(letGo, 200);
  await first;
  await second;
  slow.mockRestore();
  const spans = await heldSpans(store.app.postgres, ['kalshi'], FEED_KEY);
  expect(spans.get('kalshi')?.gaps).toEqual([{ fromUs: fromMs * 1000, toUs: toMs * 1000 }]);
});

test('a cursor of trades belongs to the endpoint and the filters that gave it', async () => {
  const nowMs = Date.now();
  const record = market({ platform: 'kalshi', ref: 'KXCURSOR-1' });
  await store.list(record);
  await store.writers.kalshi.write(
    [1, 2].map((n) => trade({ of: record, atMs: nowMs - n * 1000, price: '0.4', size: '1' })),
    LEASE,
  );
  const list = 'markets/trades?provider=kalshi&market_id=KXCURSOR-1&limit=1';
  const cursor = (await store.get<Page>(list)).pagination.next_cursor;
  const { key } = await store.app.newKey('pro');
  const next = async (path: string) => {
    const url = `/v1/api/${path}&cursor=${cursor}`;
    return (await store.app.app.inject({ url, headers: { 'x-api-key': key } })).statusCode;
  };
  expect(await next(list)).toBe(200);
  expect(await next(`${list}&takerOnly=true`)).toBe(400);
  expect(await next('markets/id/KXCURSOR-1/trades?provider=kalshi&limit=1')).toBe(400);
});
