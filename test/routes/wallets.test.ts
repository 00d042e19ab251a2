import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlatformError } from '../../src/core/errors.ts';
import { createLimitlessData } from '../../src/platforms/limitless/data.ts';
import { createPolymarketData } from '../../src/platforms/polymarket/data.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { TRADE_COLUMNS, tradeLine } from '../../src/stores/clickhouse/insert-rows.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { SETTINGS, readContext } from '../fixtures/canned-http.ts';
import { unmeteredHttp } from '../fixtures/unmetered-http.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { hurriedClock } from '../helpers/virtual-clock.ts';
import { closeRigs } from '../simulators/limitless/rig.ts';
import { join, minted, quiet } from '../simulators/limitless/trading-rig.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

let clickhouse: ClickHouse;
let service: TestApp;
let key: string;
let http: Awaited<ReturnType<typeof unmeteredHttp>>;
let limitless: Awaited<ReturnType<typeof quiet>>;
let polymarket: Awaited<ReturnType<typeof startPolymarket>>;
/** Wallets of Polymarket by the address under which a test asks for them. */
const known = new Map<string, string>();
/** Wallets for which Limitless answers 404, as it may of accounts that it does not have. */
const strangers = new Set<string>();
const stranger = (): never => {
  throw new PlatformError('limitless', 'not_found', { status: 404, detail: 'Profile not found' });
};

beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
  http = await unmeteredHttp();
  polymarket = await startPolymarket({ seed: 3, markets: 40, tradesPerMarket: 40, historyDays: 20 });
  polymarket.enforceLimits = false;
  limitless = await quiet({ chargesFees: false });
  await minted(limitless.ann, limitless.bob, limitless.market);
  const settings = { ...SETTINGS, ...polymarket.env, ...limitless.sim.env };
  const deps = { http, settings, now: Date.now };
  const platforms = { limitless: createLimitlessData(deps), polymarket: createPolymarketData(deps) };
  const { users } = platforms.polymarket;
  if (!users) throw new Error('Polymarket shows its users');
  const positions: typeof users.positions = (user, context) => users.positions(known.get(user) ?? user, context);
  platforms.polymarket = { ...platforms.polymarket, users: { ...users, positions } };
  const ofLimitless = platforms.limitless.users;
  if (!ofLimitless) throw new Error('Limitless shows its users');
  platforms.limitless = {
    ...platforms.limitless,
    users: {
      ...ofLimitless,
      userTrades: async (user, ...rest) => (strangers.has(user) ? stranger() : ofLimitless.userTrades(user, ...rest)),
      positions: async (user, context) => (strangers.has(user) ? stranger() : ofLimitless.positions(user, context)),
    },
  };
  service = await startTestApp({ clickhouse, platforms });
  ({ key } = await service.newKey('pro'));
});
afterAll(async () => {
  await service?.close();
  await http?.close();
  await polymarket?.close();
  await closeRigs();
  await clickhouse?.close();
});

async function get(path: string) {
  const reply = await service.app.inject({ method: 'GET', url: `/v1/api/${path}`, headers: { 'x-api-key': key } });
  return { status: reply.statusCode, body: reply.json() };
}

test('positions and trades of a Limitless wallet are served in the shapes of profile/*', async () => {
  const { ann, market } = limitless;
  const wallet = ann.address.toLowerCase();
  for (const query of ['', '?platform=limitless']) {
    const { status, body } = await get(`wallets/${ann.address}/positions${query}`);
    expect(status).toBe(200);
    expect(body.positions).toMatchObject([
      {
        platform: 'limitless',
        token_id: market.tokens[0],
        market_id: market.slug,
        label: 'Yes',
        shares_normalized: 100,
        average_price: 0.5,
        redeemable: false,
      },
    ]);
    expect(body.positions[0].pnl_usd).toBeCloseTo(body.positions[0].value_usd - 50, 6);
    const trades = (await get(`wallets/${wallet}/trades${query}`)).body;
    expect(trades.trades).toMatchObject([
      {
        platform: 'limitless',
        user_id: wallet,
        market_id: market.slug,
        side: 'buy',
        outcome: 'yes',
        price: 0.5,
        size: 100,
      },
    ]);
    expect(trades.meta).toMatchObject({
      platforms: query ? ['limitless'] : ['polymarket', 'limitless'],
      complete_from: null,
      total_is_exact: true,
    });
  }
});

test('positions of Limitless in settled markets have the stored payout where their rows state none', async () => {
  const { sim, world, clock } = limitless;
  const at = clock.now();
  const data = createLimitlessData({ http, settings: { ...SETTINGS, ...sim.env }, now: Date.now });
  const market = world.createMarket({ title: 'A split market', halfSpread: 500, popularity: 0 });
  const [carol, dan] = [join(limitless, 3), join(limitless, 4)];
  await minted(carol, dan, market);
  const span = { createdAt: at, expiresAt: at + 1e8 };
  const WETH = { address: '0x4200000000000000000000000000000000000006', decimals: 18, symbol: 'WETH' } as const;
  const pools = [
    world.createPool({ title: 'A pool of USDC', ...span }),
    world.createPool({ title: 'A pool of WETH', ...span, collateral: WETH }),
  ];
  const profile = world.members.withAddress(carol.address);
  for (const pool of pools) {
    const unit = 10n ** BigInt(pool.collateral.decimals);
    pool.trades.push({
      at,
      txHash: '0x1',
      outcome: 0,
      side: 'BUY',
      shares: unit,
      collateral: unit,
      yesAfter: pool.yesPercent,
      account: profile!,
    });
    profile!.pools.push({ market: pool, outcome: 1, shares: 20n * unit, collateral: 5n * unit });
  }
  // Answers are cached for two seconds: each call has another limit.
  const shown = async (limit: number) => {
    const { positions } = (await get(`wallets/${carol.address}/positions?platform=limitless&limit=${limit}`)).body;
    return [market, ...pools].map(({ slug }) =>
      positions.find(({ market_id }: { market_id: string }) => market_id === slug),
    );
  };
  const stored = async () => {
    const records = await Promise.all([market, ...pools].map(({ slug }) => data.market(slug, readContext())));
    await new MarketWriter(clickhouse, hurriedClock).write(
      'limitless',
      records.flatMap((record) => record ?? []),
    );
  };
  await stored();
  expect(await shown(10)).toMatchObject([
    { market_status: 'open', redeemable: false, value_usd: 50 },
    { market_status: 'open', redeemable: false, current_price: 0.5, value_usd: null },
    { market_status: 'open', redeemable: false, current_price: 0.5, value_usd: null },
  ]);
  clock.advance(60_000);
  world.lifecycle.resolve(market, 'split', clock.now());
  for (const pool of pools) world.lifecycle.resolve(pool, 1, clock.now());
  await stored();
  const settled = { market_status: 'settled', redeemable: true };
  expect(await shown(11)).toMatchObject([
    { ...settled, winning_outcome: '', current_price: 0.5, value_usd: 50, pnl_usd: 0 },
    { ...settled, winning_outcome: 'No', current_price: 1, value_usd: 20, pnl_usd: null },
    { ...settled, winning_outcome: 'No', current_price: 1, value_usd: null, pnl_usd: null },
  ]);
});

test('a Polymarket wallet has the same trades and positions as its profile, page by page', async () => {
  const wallet = polymarket.world.wallets[0]?.address.toLowerCase() ?? '';
  for (const list of ['trades', 'positions'] as const) {
    const profile = (await get(`profile/${list}?provider=polymarket&user=${wallet}&limit=500`)).body;
    expect(profile[list].length).toBeGreaterThan(0);
    const all: unknown[] = [];
    let cursor = '';
    do {
      const { status, body } = await get(`wallets/${wallet}/${list}?limit=7${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      all.push(...body[list]);
      cursor = body.pagination.next_cursor ?? '';
    } while (cursor !== '' && all.length < 500);
    expect(all.slice(0, 400)).toEqual(profile[list].slice(0, 400));
  }
  const [position] = (await get(`wallets/${wallet}/positions?platform=polymarket`)).body.positions;
  expect(position).toMatchObject({ current_price: expect.any(Number), value_usd: expect.any(Number) });
});

test('positions of two platforms have one order, in a page and over pages', async () => {
  const wallet = limitless.ann.address.toLowerCase();
  known.set(wallet, polymarket.world.wallets[0]?.address.toLowerCase() ?? '');
  const path = `wallets/${wallet}/positions`;
  const { user, positions: rows }: { user: string; positions: { platform: string; token_id: string }[] } = (
    await get(`${path}?limit=500`)
  ).body;
  expect(user).toBe(wallet);
  const shown = rows.map((row) => `${row.platform}:${row.token_id}`);
  expect(new Set(rows.map(({ platform }) => platform)).size).toBe(2);
  expect(shown).toEqual(shown.toSorted());
  const { positions, pagination } = (await get(`${path}?limit=2`)).body;
  const rest = (await get(`${path}?limit=500&cursor=${pagination.next_cursor}`)).body.positions;
  known.clear();
  expect([...positions, ...rest]).toEqual(rows);
});

test('a wallet counts its stored trades on both platforms, and zero is zero', async () => {
  const address = `0x${'5e'.repeat(20)}`;
  const nothing = await get(`wallets/${address}`);
  expect(nothing.status).toBe(200);
  expect(nothing.body.wallet).toEqual({
    address,
    names: [],
    trades: 0,
    volume_usd: 0,
    markets: 0,
    first_trade_at: null,
    last_trade_at: null,
    complete_from: null,
  });
  const trader = { address: `0x${'6f'.repeat(20)}`, name: 'Otter', pseudonym: '', profileImage: '' };
  const trade = {
    platform: 'limitless',
    ref: 'a-1',
    tradeId: 'ab'.repeat(16),
    executedAtUs: Date.parse('2026-11-20T10:00:00Z') * 1000,
    side: 'buy',
    outcome: 'yes',
    outcomeIndex: 0,
    outcomeCount: 2,
    price: 5_000_000_000n,
    size: 10_000_000n,
    transactionHash: `0x${'12'.repeat(32)}`,
    trader,
    isBlockTrade: false,
    quoteUsd: 5_000_000n,
  } as const;
  const other = {
    ...trade,
    ref: 'b-1',
    tradeId: 'cd'.repeat(16),
    executedAtUs: trade.executedAtUs + 60_000_000,
    quoteUsd: null,
  };
  // The same row twice counts once.
  for (const rows of [[trade, other], [trade]])
    await clickhouse.insert(TRADE_COLUMNS, Buffer.from(rows.map(tradeLine).join('\n')));
  // As the writer of trades notes them.
  const refs = ['a-1', 'b-1'].map((ref) => ({ platform: 'limitless', ref }));
  await clickhouse.insert('market_refs (platform, ref)', refs);
  const most = async (count: number) => (await get(`wallets/${trader.address}?top_markets=${count}`)).body.top_markets;
  const figures = { platform: 'limitless', title: '', outcome_name: null, trades: 1, volume_usd: 5 };
  const both = await most(2);
  expect(both.toSorted((one: { id: string }, two: { id: string }) => (one.id < two.id ? -1 : 1))).toEqual([
    { id: 'limitless:a-1', market_id: 'a-1', ...figures, last_trade_at: '2026-11-20T10:00:00.000Z' },
    { id: 'limitless:b-1', market_id: 'b-1', ...figures, last_trade_at: '2026-11-20T10:01:00.000Z' },
  ]);
  expect(await most(1)).toEqual(both.slice(0, 1));
  expect((await get(`wallets/${trader.address}?top_markets=101`)).status).toBe(400);
  const { body } = await get(`wallets/${trader.address}`);
  expect(body.top_markets).toEqual([]);
  expect(body.wallet).toMatchObject({
    trades: 2,
    volume_usd: 10,
    markets: 2,
    first_trade_at: '2026-11-20T10:00:00.000Z',
    last_trade_at: '2026-11-20T10:01:00.000Z',
    complete_from: null,
  });
  expect((await get(`wallets/${trader.address}?platform=polymarket`)).body.wallet.trades).toBe(0);
});

test('what is no wallet, and a platform without wallets, is refused; profiles say where to look', async () => {
  expect((await get('wallets/otter')).status).toBe(400);
  expect((await get(`wallets/0x${'5e'.repeat(20)}/trades?platform=kalshi`)).status).toBe(400);
  const refused = await get(`profile/trades?provider=limitless&user=0x${'5e'.repeat(20)}`);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain('/v1/api/wallets/');
});

test('the figures of a wallet are no list, and have the formats of none', async () => {
  const { status, body } = await get(`wallets/0x${'5e'.repeat(20)}?format=csv`);
  expect([status, body.error?.message]).toEqual([400, 'Invalid request: format']);
});

test('a platform that does not know the wallet has no rows of it; with no other left it is not found', async () => {
  const wallet = polymarket.world.wallets[0]!.address.toLowerCase();
  strangers.add(wallet);
  for (const list of ['trades', 'positions']) {
    const { status, body } = await get(`wallets/${wallet}/${list}?limit=500`);
    const own = await get(`wallets/${wallet}/${list}?limit=500&platform=polymarket`);
    expect([status, body[list]]).toEqual([200, own.body[list]]);
    expect(body[list].length).toBeGreaterThan(0);
    expect(body.meta).toMatchObject({ errors: [], total_is_exact: own.body.meta.total_is_exact });
    expect(body.pagination.has_more).toBe(own.body.pagination.has_more);
    expect((await get(`wallets/${wallet}/${list}?platform=limitless`)).status).toBe(404);
  }
});

test('a 404 of a gateway before Limitless does not say that it has nothing of the wallet', async () => {
  const wallet = polymarket.world.wallets[1]!.address.toLowerCase();
  limitless.sim.inject({ kind: 'status', status: 404, body: '<html>not here</html>', times: 1e6, match: /./ });
  try {
    for (const list of ['trades', 'positions']) {
      const { status, body } = await get(`wallets/${wallet}/${list}?limit=7`);
      expect([status, body.meta]).toMatchObject([
        200,
        { total_is_exact: false, errors: [{ platform: 'limitless', status: 503 }] },
      ]);
    }
  } finally {
    limitless.sim.clearFaults();
  }
});

test('while one platform is away, the other is answered and the answer says what is missing', async () => {
  const wallet = limitless.ann.address.toLowerCase();
  polymarket.inject({ kind: 'status', status: 503, body: '{}', times: 1e6, match: /./ });
  try {
    for (const list of ['trades', 'positions']) {
      const { status, body } = await get(`wallets/${wallet}/${list}?limit=7`);
      expect(status).toBe(200);
      expect(body[list].length).toBeGreaterThan(0);
      expect(body.meta).toMatchObject({
        total_is_exact: false,
        errors: [{ platform: 'polymarket', status: expect.any(Number), message: expect.any(String) }],
      });
      const alone = await get(`wallets/${wallet}/${list}?limit=7&platform=polymarket`);
      expect(alone.status).toBe(body.meta.errors[0].status);
    }
  } finally {
    polymarket.clearFaults();
  }
});
