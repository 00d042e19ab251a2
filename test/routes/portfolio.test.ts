import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { decimalNumber, parsePrice, parseSize, parseUsd, SIZE_SCALE } from '../../src/core/decimal.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { createKalshiData } from '../../src/platforms/kalshi/data.ts';
import { toPosition } from '../../src/queries/portfolio.ts';
import type { PlatformData, SweepScope } from '../../src/platforms/contract.ts';
import { createPolymarketData } from '../../src/platforms/polymarket/data.ts';
import { collect, readContext, SETTINGS } from '../fixtures/canned-http.ts';
import { unmeteredHttp } from '../fixtures/unmetered-http.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';
import { hurriedClock } from '../helpers/virtual-clock.ts';
import { type KalshiWorld, startKalshi } from '../simulators/kalshi.ts';
import { type PolymarketWorld, startPolymarket } from '../simulators/polymarket.ts';
import type { Simulator } from '../simulators/simulator.ts';

const TRADES = '/v1/api/profile/trades';
const POSITIONS = '/v1/api/profile/positions';

let clickhouse: ClickHouse;
let service: TestApp;
let key: string;
let kalshi: Simulator<KalshiWorld>;
let polymarket: Simulator<PolymarketWorld>;
let platforms: { kalshi: PlatformData; polymarket: PlatformData };
let http: Awaited<ReturnType<typeof unmeteredHttp>>;
/** A nickname that has traded on both sides, and the demo wallet. */
let nickname: string;
let wallet: string;
let calls = 0;

async function store(data: PlatformData, scope: SweepScope): Promise<void> {
  const writer = new MarketWriter(clickhouse, hurriedClock);
  for (const page of await collect(data.sweep(scope, readContext()))) await writer.write(data.platform, page.markets);
}

beforeAll(async () => {
  ({ clickhouse } = await openOwnClickHouse());
  http = await unmeteredHttp();
  kalshi = await startKalshi({ seed: 3, markets: 66, tradesPerMarket: 40, historyDays: 20 });
  polymarket = await startPolymarket({ seed: 3, markets: 70, tradesPerMarket: 40, historyDays: 20 });
  kalshi.enforceLimits = false;
  polymarket.enforceLimits = false;
  const deps = { http, settings: { ...SETTINGS, ...kalshi.env, ...polymarket.env }, now: Date.now };
  platforms = { kalshi: createKalshiData(deps), polymarket: createPolymarketData(deps) };
  await store(platforms.kalshi, { kind: 'full' });
  await store(platforms.polymarket, { kind: 'open' });
  service = await startTestApp({ clickhouse, platforms });
  ({ key } = await service.newKey('pro'));
  const { trades } = kalshi.world;
  const isBoth = (name: string) =>
    trades.some(({ taker }) => taker === name) && trades.some(({ maker }) => maker === name);
  nickname = kalshi.world.nicknames('public').find(isBoth)!;
  wallet = polymarket.world.demoUser.address;
});
afterAll(async () => {
  await service?.close();
  await kalshi?.close();
  await polymarket?.close();
  await http?.close();
  await clickhouse?.close();
});

const get = (path: string, query: Record<string, string | number>, headers: Record<string, string> = {}) => {
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return service.app.inject({ url: `${path}?${text.join('&')}`, headers: { 'x-api-key': key, ...headers } });
};

/** Every row of a list, page by page; the pages' bodies too. */
async function all(path: string, rows: 'trades' | 'positions', query: Record<string, string | number>) {
  const found: Record<string, unknown>[] = [];
  const bodies = [];
  let cursor = '';
  do {
    const answer = await get(path, { ...query, ...(cursor && { cursor }) });
    expect(answer.statusCode).toBe(200);
    const body = answer.json();
    bodies.push(body);
    found.push(...body[rows]);
    cursor = body.pagination.next_cursor ?? '';
    expect(body.pagination.has_more).toBe(cursor !== '');
  } while (cursor !== '');
  return { found, bodies };
}

/** Both sides count: whole trades as taker, their parts as maker. */
const tradesOfWallet = () =>
  polymarket.world.trades().flatMap((trade) => {
    const rows = [trade, ...trade.fills.map((fill) => ({ ...trade, ...fill }))];
    return rows.filter((row) => row.wallet.address === wallet);
  });

const traits = (hash: unknown, side: unknown, size: unknown) => `${hash} ${side} ${size}`;
/** A query nobody has asked before: answers are kept for two seconds. */
const fresh = () => ({ provider: 'polymarket', user: wallet, limit: 200 + (calls += 1) });

const redeemable = async () => {
  const { found } = await all(POSITIONS, 'positions', fresh());
  return found.filter((row) => row.redeemable);
};

describe('trades of a Polymarket wallet', () => {
  test('are all there, newest first, each once, over any page size', async () => {
    const expected = tradesOfWallet();
    expect(expected.length).toBeGreaterThan(40);
    const { found, bodies } = await all(TRADES, 'trades', { provider: 'polymarket', user: wallet, limit: 17 });
    expect(new Set(found.map(({ trade_id }) => trade_id)).size).toBe(found.length);
    expect(
      found
        .map((row) => traits((row.metadata as { transaction_hash: string }).transaction_hash, row.side, row.size))
        .toSorted(),
    ).toEqual(
      expected
        .map((row) => traits(row.transactionHash, row.side.toLowerCase(), decimalNumber(row.size, SIZE_SCALE)))
        .toSorted(),
    );
    const times = found.map(({ timestamp }) => String(timestamp));
    expect(times).toEqual(times.toSorted().toReversed());
    expect(bodies.map(({ pagination }) => pagination.total)).toEqual(bodies.map(() => expected.length));
    for (const { meta } of bodies)
      expect(meta).toMatchObject({ complete_from: null, total_is_exact: true, visibility: 'public' });
  });

  test('name stored markets by their Gamma id, others by their condition id, and outcomes by id and name', async () => {
    const { found } = await all(TRADES, 'trades', {
      provider: 'platform_b',
      user: wallet.toUpperCase().replace('0X', '0x'),
    });
    const { markets } = polymarket.world;
    for (const row of found) {
      const { condition_id: condition, token_id: token } = row.metadata as Record<string, string>;
      const market = markets.find(({ conditionId }) => conditionId === condition)!;
      const open = market.event.markets.some(({ state }) => state !== 'resolved' && state !== 'closed');
      expect(row.market_id).toBe(open ? market.id : condition);
      expect(row).toMatchObject({
        user_id: wallet,
        ticker: market.slug,
        title: market.question,
        platform: 'polymarket',
      });
      const name = market.outcomes[market.tokenIds.indexOf(token!)]!;
      expect(row.outcome).toBe(name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'));
      expect(row.label).toBe(name);
    }
    expect(new Set(found.map(({ market_id }) => String(market_id).startsWith('0x'))).size).toBe(2);
  });

  test('are found by profile name, under every alias of user', async () => {
    const name = polymarket.world.demoUser.name;
    for (const alias of ['user', 'username', 'address', 'user_id']) {
      const answer = await get(TRADES, { platform: 'polymarket', [alias]: name, limit: 1 });
      expect(answer.json().trades[0].user_id).toBe(wallet);
    }
    const none = await get(TRADES, { provider: 'polymarket', user: `${name}x` });
    expect(none.statusCode).toBe(404);
    expect(none.json().error).toMatchObject({ status: 404, message: 'User not found on Polymarket' });
  });

  test('a wallet that never traded has none', async () => {
    const answer = await get(TRADES, { provider: 'polymarket', user: `0x${'9'.repeat(40)}` });
    expect(answer.json()).toMatchObject({ trades: [], pagination: { total: 0, has_more: false, next_cursor: null } });
  });
});

describe('trades of a Kalshi nickname', () => {
  test('are purchases of the outcome the user took, at its own price, also as maker', async () => {
    const mine = kalshi.world.trades.filter(({ maker, taker }) => maker === nickname || taker === nickname);
    const { found } = await all(TRADES, 'trades', { provider: 'kalshi', user: nickname, limit: 30 });
    expect(found).toHaveLength(mine.length);
    const byId = new Map(found.map((row) => [row.trade_id, row]));
    for (const trade of mine) {
      const other = trade.takerSide === 'yes' ? 'no' : 'yes';
      const outcome = trade.taker === nickname ? trade.takerSide : other;
      expect(byId.get(trade.tradeId)).toMatchObject({
        side: 'buy',
        outcome,
        price: Number(outcome === 'yes' ? trade.yesPrice : trade.noPrice),
        size: Number(trade.count),
        market_id: trade.ticker,
        ticker: trade.ticker,
        metadata: { maker_nickname: trade.maker },
      });
    }
    expect(found.some(({ title }) => title !== '')).toBe(true);
    for (const { title, outcome, label } of found)
      expect(label).toBe(title === '' ? '' : outcome === 'yes' ? 'Yes' : 'No');
  });

  test('who hides has none and it is said; who is unknown is a 404', async () => {
    const [shy] = kalshi.world.nicknames('hidden');
    for (const [path, rows] of [
      [TRADES, 'trades'],
      [POSITIONS, 'positions'],
    ] as const) {
      const hidden = await get(path, { provider: 'kalshi', user: shy! });
      expect(hidden.statusCode).toBe(200);
      expect(hidden.json()).toMatchObject({ [rows]: [], meta: { visibility: 'hidden' }, pagination: { total: 0 } });
      const unknown = await get(path, { provider: 'kalshi', user: 'no.such.otter' });
      expect(unknown.statusCode).toBe(404);
      expect(unknown.json().error.message).toBe('User not found on Kalshi');
    }
  });
});

/** A stored market of two outcomes, without its state. */
const TWO_OUTCOMES = {
  ref: 'c',
  platform_id: '1',
  title: '',
  outcome_ids: ['yes', 'no'],
  outcome_names: ['Yes', 'No'],
  token_ids: ['1', '2'],
};

describe('positions', () => {
  test('on Polymarket are what the wallet holds, in base units and in shares', async () => {
    const { world } = polymarket;
    const { found, bodies } = await all(POSITIONS, 'positions', { provider: 'polymarket', user: wallet, limit: 2 });
    const expected = world.markets.flatMap((market) =>
      ([0, 1] as const).flatMap((outcome) => {
        const size = world.held(world.demoUser, market, outcome);
        return size > 0n ? [{ market, outcome, size }] : [];
      }),
    );
    expect(found).toHaveLength(expected.length);
    for (const { market, outcome, size } of expected) {
      const row = found.find(({ token_id }) => token_id === market.tokenIds[outcome])!;
      // The platform prints sizes to four decimals.
      expect(row.shares_normalized).toBeCloseTo(decimalNumber(size, SIZE_SCALE), 3);
      expect(row.shares).toBe(Math.round(Number(row.shares_normalized) * 1e6));
      expect(row).toMatchObject({
        label: market.outcomes[outcome],
        title: market.question,
        redeemable: market.payouts !== null,
      });
    }
    expect(bodies[0].user).toBe(wallet);
    expect(bodies.map(({ pagination }) => pagination.total)).toEqual(bodies.map(() => expected.length));
  });

  test('in a market that is not stored show its state themselves; once it is stored, the listing does', async () => {
    const { world } = polymarket;
    const marketOf = (row: Record<string, unknown>) =>
      world.markets.find(({ tokenIds }) => tokenIds.includes(String(row.token_id)))!;
    const before = await redeemable();
    expect(before.length).toBeGreaterThan(1);
    for (const row of before) expect(row).toMatchObject({ market_status: 'settled' });
    await store(platforms.polymarket, { kind: 'historical', sinceMs: 0 });
    const after = await redeemable();
    for (const row of after) {
      const market = marketOf(row);
      const winner = market.payouts!.findIndex((payout) => payout === 10n ** 10n);
      expect(row).toMatchObject({
        market_id: market.id,
        market_status: 'settled',
        winning_outcome: market.outcomes[winner] ?? '',
      });
    }
  });

  test('keep the winner that the platform states while the stored market is not settled', () => {
    const position = {
      ref: 'c',
      tokenId: '2',
      title: '',
      label: 'No',
      size: 10n,
      redeemable: true,
      winner: 'No',
      isUsd: true,
      stated: { averagePrice: null, cost: null, currentPrice: 10n ** 10n, value: null, pnl: null },
    };
    const winnerOf = (status: string, prices: string[]) =>
      toPosition('limitless', position, { ...TWO_OUTCOMES, status, prices }).winning_outcome;
    expect(winnerOf('closed', ['0.4', '0.6'])).toBe('No');
    expect(winnerOf('settled', ['1', '0'])).toBe('Yes');
    expect(winnerOf('settled', ['0.5', '0.5'])).toBe('');
  });

  test('in a settled market are worth the stored payout, whatever price Polymarket states', () => {
    const position = {
      ref: 'c',
      tokenId: '1',
      title: '',
      label: 'Yes',
      size: parseSize('100'),
      redeemable: true,
      winner: '',
      isUsd: true,
      stated: {
        averagePrice: parsePrice('0.4'),
        cost: parseUsd('40'),
        currentPrice: parsePrice('0.97'),
        value: parseUsd('97'),
        pnl: parseUsd('57'),
      },
    };
    const valued = (status: string, prices: (string | null)[]) =>
      toPosition('polymarket', position, { ...TWO_OUTCOMES, status, prices });
    expect(valued('settled', ['1', '0'])).toMatchObject({ current_price: 1, value_usd: 100, pnl_usd: 60 });
    expect(valued('settled', ['0', '1'])).toMatchObject({ current_price: 0, value_usd: 0, pnl_usd: -40 });
    const asStated = { current_price: 0.97, value_usd: 97, pnl_usd: 57 };
    expect(valued('settled', [null, null])).toMatchObject(asStated);
    expect(valued('closed', ['0.9', '0.1'])).toMatchObject(asStated);
  });

  test('on Polymarket are not all while the wallet holds a combo, or may hold one', async () => {
    const { world } = polymarket;
    let limit = 400;
    // Each with another limit, as answers are kept for seconds.
    const isExact = async () =>
      (await get(POSITIONS, { provider: 'polymarket', user: wallet, limit: (limit += 1) })).json().meta.total_is_exact;
    expect(await isExact()).toBe(true);
    const combo = { of: world.demoUser, size: 0n };
    world.combos.push(combo);
    expect(await isExact()).toBe(true);
    combo.size = 5_000_000n;
    expect(await isExact()).toBe(false);
    world.combos.length = 0;
    const match = /\/v2\/positions\/combos/;
    polymarket.inject({ kind: 'status', status: 400, body: '{}', times: 1e6, match });
    try {
      expect(await isExact()).toBe(false);
    } finally {
      polymarket.clearFaults();
    }
  });

  test('of a contract of the protocol, which is no user, are a 404', async () => {
    const user = '0xE111180000d2663C0091e4f400237545B87B996B';
    for (const path of [TRADES, POSITIONS]) {
      const answer = await get(path, { provider: 'polymarket', user });
      expect([answer.statusCode, answer.json().error.error_text]).toEqual([404, expect.stringContaining('contract')]);
    }
  });

  test('on Kalshi are one net position per market, named by ticker and side', async () => {
    const { exchange } = kalshi.world;
    const trader = exchange.traders.find((one) => one.nickname === nickname)!;
    const expected = exchange.markets.flatMap((market) => {
      const net = market.holdings.get(trader.index)?.position ?? 0;
      if (net === 0 || market.status === 'finalized') return [];
      const side = net > 0 ? 'Yes' : 'No';
      return [`${market.ticker}:${side.toLowerCase()} ${side} ${Math.abs(net) / 100}`];
    });
    expect(expected.length).toBeGreaterThan(2);
    const { found, bodies } = await all(POSITIONS, 'positions', { provider: 'platform_a', user: nickname, limit: 3 });
    expect(found.map((row) => `${row.token_id} ${row.label} ${row.shares_normalized}`).toSorted()).toEqual(
      expected.toSorted(),
    );
    for (const row of found) {
      expect(row).toMatchObject({ shares: Math.round(Number(row.shares_normalized) * 1e6), redeemable: false });
      const { combo, vanished } = kalshi.world.market(String(row.market_id));
      // Combinations are in no listing, and what is not stored has neither title nor status.
      const known = combo || vanished ? [''] : ['open', 'paused', 'closed', 'unopened'];
      expect(known).toContain(row.market_status);
      expect(row.title === '').toBe(row.market_status === '');
    }
    expect(bodies[0]).toMatchObject({ user: nickname, meta: { platform: 'kalshi', visibility: 'public' } });
  });

  test('on Kalshi have the price of the stored market, and the value at it', async () => {
    const { found } = await all(POSITIONS, 'positions', { provider: 'kalshi', user: nickname, limit: 100 });
    const stored = found.filter(({ market_status }) => market_status !== '');
    expect(new Set(stored.map(({ label }) => label)).size).toBe(2);
    for (const { market_id, label, shares_normalized, current_price, value_usd, pnl_usd } of stored) {
      const { yes, no } = (await get(`/v1/api/markets/id/${market_id}`, { provider: 'kalshi' })).json().markets[0]
        .current_prices;
      expect([market_id, current_price]).toEqual([market_id, label === 'Yes' ? yes.price : no.price]);
      const value = Number(shares_normalized) * Number(current_price);
      expect(value_usd).toEqual(current_price === null ? null : expect.closeTo(value, 6));
      // What the position cost is shown to its owner only.
      expect(pnl_usd).toBeNull();
    }
    const unstored = found.filter(({ market_status }) => market_status === '');
    for (const { current_price, value_usd } of unstored) expect([current_price, value_usd]).toEqual([null, null]);
  });
});

describe('what is asked wrongly', () => {
  test('Limitless is refused with the reason', async () => {
    for (const provider of ['limitless', 'platform_c']) {
      const answer = await get(TRADES, { provider, user: 'x' });
      expect(answer.statusCode).toBe(400);
      expect(answer.json().error.error_text).toContain('GET /v1/api/wallets/{address} has its wallets');
    }
  });

  test.each([
    [{ provider: 'kalshi' }, 'user'],
    [{ user: 'x' }, 'provider'],
    [{ provider: 'kalshi', user: 'x', limit: 501 }, 'limit'],
    [{ provider: 'kalshi', user: 'x', limit: 0 }, 'limit'],
    [{ provider: 'kalshi', user: 'x', cursor: 'AAAA' }, 'cursor'],
    [{ provider: 'kalshi', user: 'x', market: 'y' }, 'market'],
  ])('%j is a 400 that names %s', async (query: Record<string, string | number>, field) => {
    for (const path of [TRADES, POSITIONS]) {
      const answer = await get(path, query);
      expect(answer.statusCode).toBe(400);
      expect(answer.json().error.error_text).toContain(`${field}:`);
    }
  });

  test('a cursor serves only the user it was given for', async () => {
    const first = await get(TRADES, { provider: 'polymarket', user: wallet, limit: 5 });
    const cursor = first.json().pagination.next_cursor;
    expect((await get(TRADES, { provider: 'polymarket', user: wallet, limit: 9, cursor })).statusCode).toBe(200);
    expect(
      (await get(TRADES, { provider: 'polymarket', user: polymarket.world.wallet(1).address, cursor })).statusCode,
    ).toBe(400);
    expect((await get(POSITIONS, { provider: 'polymarket', user: wallet, cursor })).statusCode).toBe(400);
  });

  test('without a key it is a 401', async () => {
    const answer = await service.app.inject({ url: `${TRADES}?provider=kalshi&user=${nickname}` });
    expect(answer.statusCode).toBe(401);
  });
});

describe('what the platform does wrong', () => {
  beforeEach(() => {
    kalshi.clearFaults();
    polymarket.clearFaults();
  });
  test('is unavailable: 503 with Retry-After', async () => {
    polymarket.inject({ match: /v2\/trades/, times: 20, kind: 'status', status: 503, body: '' });
    const answer = await get(TRADES, fresh());
    expect(answer.statusCode).toBe(503);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('answers in another shape: 502 that names the endpoint', async () => {
    const body = JSON.stringify({ items: [] });
    polymarket.inject({
      match: /v2\/positions/,
      times: 5,
      kind: 'status',
      status: 200,
      body,
      headers: { 'content-type': 'application/json' },
    });
    const answer = await get(POSITIONS, fresh());
    expect(answer.statusCode).toBe(502);
    expect(answer.json().error.error_text).toContain('/v2/positions');
  });
});

test('an unchanged answer is a 304, and the rows come as CSV too', async () => {
  const query = { provider: 'polymarket', user: wallet, limit: 3 };
  const first = await get(TRADES, query);
  expect((await get(TRADES, query, { 'if-none-match': String(first.headers.etag) })).statusCode).toBe(304);
  const csv = await get(TRADES, query, { accept: 'text/csv' });
  expect(csv.body.split('\n')[0]).toContain('trade_id');
});
