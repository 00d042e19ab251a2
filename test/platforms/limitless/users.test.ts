import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { parsePrice, parseSize, parseUsd } from '../../../src/core/decimal.ts';
import { createPlatformHttp } from '../../../src/platforms/http/client.ts';
import type { PlatformHttp } from '../../../src/platforms/http/request.ts';
import type { PlatformUsers } from '../../../src/platforms/contract.ts';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import { NOTHING_STATED } from '../../../src/platforms/user-contract.ts';
import { createLocalShared } from '../../../src/stores/shared/local.ts';
import { SETTINGS, cannedHttp, readContext } from '../../fixtures/canned-http.ts';
import { silent } from '../../helpers/silent-log.ts';
import { closeRigs } from '../../simulators/limitless/rig.ts';
import { minted, quiet } from '../../simulators/limitless/trading-rig.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await closeRigs();
});

const usersOf = (data: { users?: PlatformUsers }): PlatformUsers => {
  if (!data.users) throw new Error('no users');
  return data.users;
};

/** Ann holds 100 YES and Bob 100 NO of a market, and Ann sold 40 of hers to Bob. */
async function traded() {
  const on = await quiet({ chargesFees: false });
  const { ann, bob, market, sim } = on;
  await minted(ann, bob, market);
  await ann.place({ market, side: 'SELL', tick: 600, milliShares: 40_000 });
  await bob.place({ market, side: 'BUY', tick: 600, milliShares: 40_000 });
  const http = createPlatformHttp({ shared: createLocalShared(silent, systemClock), log: silent, clock: systemClock });
  closers.push(() => http.close());
  const users = usersOf(createLimitlessData({ http, settings: { ...SETTINGS, ...sim.env }, now: Date.now }));
  return { ...on, users };
}

test('the trades of any wallet are read without a key, newest first and page by page', async () => {
  const { users, ann, market } = await traded();
  const first = await users.userTrades(ann.address.toLowerCase(), { limit: 1, position: null }, readContext());
  expect(first).toMatchObject({ user: ann.address.toLowerCase(), visibility: 'public' });
  expect(first.trades).toMatchObject([
    {
      ref: market.slug,
      ticker: market.slug,
      title: market.title,
      side: 'sell',
      outcome: { id: 'yes' },
      price: parsePrice('0.6'),
      size: parseSize('40'),
      metadata: { maker_nickname: '', maker_action: '', condition_id: market.conditionId },
    },
  ]);
  const second = await users.userTrades(ann.address, { limit: 5, position: first.next }, readContext());
  expect(second.trades).toMatchObject([{ side: 'buy', price: parsePrice('0.5'), size: parseSize('100') }]);
  expect([second.next, second.total, second.isTotal]).toEqual([null, 2, true]);
  const ids = [...first.trades, ...second.trades].map(({ tradeId }) => tradeId);
  expect(new Set(ids).size).toBe(2);
});

test('positions carry what the platform states of their value, and no outcome that is not held', async () => {
  const { users, ann, bob, market } = await traded();
  const held = await users.positions(ann.address, readContext());
  expect(held).toMatchObject({ isAll: true, smallest: null });
  expect(held.positions).toMatchObject([
    {
      ref: market.slug,
      tokenId: market.tokens[0],
      label: 'Yes',
      size: parseSize('60'),
      redeemable: false,
      winner: '',
      stated: { averagePrice: parsePrice('0.5') },
    },
  ]);
  const [{ stated } = { stated: null }] = held.positions;
  expect(stated?.value).toBe(((stated?.currentPrice ?? 0n) * 60_000_000n) / 10n ** 10n);
  expect(stated?.pnl).toBe((stated?.value ?? 0n) - parseUsd('30'));
  expect((await users.positions(bob.address, readContext())).positions).toHaveLength(2);
});

test('a settled position names its winner; splits and settlements are no trades', async () => {
  const { users, world, clock, ann, bob, market } = await traded();
  world.lifecycle.resolve(market, 1, clock.now());
  const labels = async (address: string) =>
    (await users.positions(address, readContext())).positions.map(({ label, redeemable, winner }) => [
      label,
      redeemable,
      winner,
    ]);
  expect(await labels(ann.address)).toEqual([['Yes', true, 'No']]);
  expect(await labels(bob.address)).toEqual([
    ['Yes', true, 'No'],
    ['No', true, 'No'],
  ]);
  expect((await users.userTrades(ann.address, { limit: 50, position: null }, readContext())).trades).toHaveLength(2);
  const stated = (await users.positions(bob.address, readContext())).positions.map((one) => one.stated);
  expect(stated).toEqual([
    { averagePrice: parsePrice('0.6'), cost: parseUsd('24'), currentPrice: 0n, value: 0n, pnl: parseUsd('-24') },
    {
      averagePrice: parsePrice('0.5'),
      cost: parseUsd('50'),
      currentPrice: parsePrice('1'),
      value: parseUsd('100'),
      pnl: parseUsd('50'),
    },
  ]);
});

test('the value of a position is its payout once the market is resolved, and unknown without a price', async () => {
  const market = { slug: 'm-1', title: 'M', status: 'RESOLVED', yesPositionId: '1', noPositionId: '2' };
  const won = { cost: '19100000', fillPrice: '489743', marketValue: '13650000', unrealizedPnl: '-5450000' };
  const lost = { cost: '24050000', fillPrice: '511702', marketValue: '30550000', unrealizedPnl: '6500000' };
  const book = (more: object, prices: object = { latestYesPrice: 0.35, latestNoPrice: 0.65 }) => ({
    market: { ...market, ...more },
    positions: { yes: won, no: lost },
    tokensBalance: { yes: '39000000', no: '47000000' },
    latestTrade: prices,
  });
  const untraded = { ...book({ status: 'FUNDED' }, {}), tokensBalance: { yes: '10000000', no: '0' } };
  const nothing = { cost: '5000000', fillPrice: '500000', marketValue: '0', unrealizedPnl: '0' };
  const body = {
    clob: [
      book({ winningOutcomeIndex: 0 }),
      book({ winningOutcomeIndex: null }),
      { ...untraded, positions: { yes: nothing, no: nothing } },
    ],
    group: [],
    amm: ['USDC', 'WETH'].map((symbol) =>
      pool(symbol, { market: { ...pool(symbol).market, status: 'RESOLVED', winningOutcomeIndex: 1 } }),
    ),
  };
  const users = usersOf(createLimitlessData({ http: cannedHttp(() => body), settings: SETTINGS, now: Date.now }));
  const { positions } = await users.positions(`0x${'9a'.repeat(20)}`, readContext());
  const one = parsePrice('1');
  expect(positions.map(({ stated: { currentPrice, value, pnl } }) => [currentPrice, value, pnl])).toEqual([
    [one, parseUsd('39'), parseUsd('19.9')],
    [0n, 0n, parseUsd('-24.05')],
    [null, null, null],
    [null, null, null],
    [null, null, null],
    [one, parseUsd('12.5'), parseUsd('7.5')],
    [one, null, null],
  ]);
});

test('a position in a market that resolved as a split is worth its part, and has no winner', async () => {
  const market = { slug: 'm-1', title: 'M', status: 'RESOLVED', yesPositionId: '1', noPositionId: '2' };
  const sides = { yes: { cost: '6000000' }, no: { cost: '2500000' } };
  const book = (result: object) => ({
    market: { ...market, ...result },
    positions: sides,
    tokensBalance: { yes: '10000000', no: '4000000' },
  });
  const group = [book({ winningOutcomeIndex: null, payoutNumerators: [1, 1] }), book({ payoutNumerators: ['0', '1'] })];
  const amm = [pool('USDC', { market: { ...pool('USDC').market, status: 'RESOLVED', payoutNumerators: [3, 1] } })];
  const http = cannedHttp(() => ({ clob: [], group, amm }));
  const users = usersOf(createLimitlessData({ http, settings: SETTINGS, now: Date.now }));
  const { positions } = await users.positions(`0x${'9a'.repeat(20)}`, readContext());
  const read = positions.map(({ winner, stated: { currentPrice, value, pnl } }) => [winner, currentPrice, value, pnl]);
  const [half, one] = [parsePrice('0.5'), parsePrice('1')];
  expect(read).toEqual([
    ['', half, parseUsd('5'), parseUsd('-1')],
    ['', half, parseUsd('2'), parseUsd('-0.5')],
    ['No', 0n, 0n, parseUsd('-6')],
    ['No', one, parseUsd('4'), parseUsd('1.5')],
    ['', parsePrice('0.25'), parseUsd('3.125'), parseUsd('-1.875')],
  ]);
});

test('a wallet that never traded has nothing, and what is no wallet is not found', async () => {
  const { users } = await traded();
  const nobody = `0x${'9a'.repeat(20)}`;
  expect((await users.positions(nobody, readContext())).positions).toEqual([]);
  expect(await users.userTrades(nobody, { limit: 5, position: null }, readContext())).toMatchObject({
    trades: [],
    total: 0,
  });
  await expect(users.positions('ann', readContext())).rejects.toMatchObject({ kind: 'not_found' });
});

const pool = (symbol: string, more: object = {}) => ({
  market: { slug: `pool-${symbol}`, title: 'Pool', id: '0x1', closed: false, collateralToken: { symbol }, group: {} },
  outcomeIndex: 1,
  outcomeTokenAmount: '12.5',
  averageFillPrice: '0.4',
  unrealizedPnl: '1.25',
  latestTrade: { outcomeTokenPrice: 0.5 },
  ...more,
});

test('a position in a pool does not state whether it is redeemable, and is priced at the last trade', async () => {
  const { users, world, clock, ann } = await traded();
  const profile = world.members.withAddress(ann.address);
  if (!profile) throw new Error('Ann is a member');
  const market = world.createPool({
    title: 'Will the pool fill?',
    createdAt: clock.now(),
    expiresAt: clock.now() + 1e8,
  });
  const held = async () => (await users.positions(ann.address, readContext())).positions.at(-1);
  profile.pools.push({ market, outcome: 1, shares: 254_813_724n, collateral: 158_000_000n });
  expect(await held()).toMatchObject({
    ref: market.slug,
    tokenId: `${market.slug}:no`,
    size: parseSize('254.813724'),
    redeemable: null,
    winner: '',
    isUsd: true,
    stated: NOTHING_STATED,
  });
  const trade = { at: clock.now(), txHash: '0x1', side: 'BUY', shares: 1n, collateral: 1n, account: profile } as const;
  market.trades.push({ ...trade, outcome: 0, yesAfter: 5495 });
  market.yesPercent = 5495;
  world.lifecycle.resolve(market, 1, clock.now());
  expect(await held()).toMatchObject({ redeemable: null, winner: '', stated: { currentPrice: parsePrice('0.4505') } });
});

test('a pool is valued only where it is in USDC, an unreadable row makes the list incomplete', async () => {
  const body = { clob: [], group: [], amm: [pool('USDC'), pool('WETH'), pool('odd', { outcomeIndex: 7 })] };
  const http = cannedHttp((path) => (path.endsWith('/positions') ? body : undefined));
  const context = readContext();
  const users = usersOf(createLimitlessData({ http, settings: SETTINGS, now: Date.now }));
  const held = await users.positions(`0x${'9a'.repeat(20)}`, context);
  expect(held.isAll).toBe(false);
  expect(context.badRows).toHaveLength(1);
  expect(held.positions.map(({ size, label, stated }) => [size, label, stated.averagePrice, stated.pnl])).toEqual([
    [parseSize('12.5'), 'No', parsePrice('0.4'), parseUsd('1.25')],
    [parseSize('12.5'), 'No', null, null],
  ]);
});

test('an odd field of a position or a trade costs that field, and each is counted', async () => {
  const side = { fillPrice: '400000', marketValue: '5000000', unrealizedPnl: '1000000' };
  const market = { slug: 'm-1', title: 'M', status: 'FUNDED', yesPositionId: '1', noPositionId: '2' };
  const book = (more: object) => ({
    market,
    positions: { yes: side, no: side },
    tokensBalance: { yes: '10000000', no: '0' },
    ...more,
  });
  const trade = {
    blockTimestamp: 1_790_000_000,
    market: { slug: 'm-1', title: 'M', conditionId: '0x1' },
    outcomeIndex: 0,
    outcomeTokenAmount: '2.5',
    outcomeTokenPrice: '0.4',
    strategy: 'Buy',
    transactionHash: '0xa',
    tradeEventId: 'e-1',
  };
  const clob = [
    book({ latestTrade: 'odd' }),
    book({ positions: { yes: { ...side, unrealizedPnl: {} }, no: side } }),
    book({ positions: [] }),
    book({ tokensBalance: { yes: 'odd', no: '0' } }),
  ];
  const data = [
    { ...trade, transactionHash: {} },
    { ...trade, tradeEventId: 7 },
    { ...trade, outcomeTokenPrice: 'odd' },
  ];
  const http = cannedHttp((path) => (path.endsWith('/positions') ? { clob } : { data }));
  const users = usersOf(createLimitlessData({ http, settings: SETTINGS, now: Date.now }));
  const [of, at] = [readContext(), readContext()];
  const { positions, isAll } = await users.positions(`0x${'9a'.repeat(20)}`, of);
  const [price, value, pnl] = [parsePrice('0.4'), parseUsd('5'), parseUsd('1')];
  expect(positions.map(({ stated }) => stated)).toEqual([
    { averagePrice: price, cost: null, currentPrice: null, value, pnl },
    { averagePrice: price, cost: null, currentPrice: null, value, pnl: null },
    NOTHING_STATED,
  ]);
  expect([isAll, of.badRows.map(({ field }) => field)]).toEqual([
    false,
    ['latestTrade', 'positions.yes.unrealizedPnl', 'positions', undefined],
  ]);
  const page = await users.userTrades(`0x${'9a'.repeat(20)}`, { limit: 5, position: null }, at);
  expect(page.trades).toHaveLength(2);
  expect(at.badRows.map(({ field }) => field)).toEqual(['transactionHash', 'tradeEventId', undefined]);
});

const fill = (more: object) => ({
  blockTimestamp: 1_790_000_000,
  market: { slug: 'm-1', title: 'M', conditionId: '0x1' },
  outcomeIndex: 0,
  outcomeTokenAmount: '2.5',
  outcomeTokenPrice: '0.4',
  strategy: 'Limit Buy',
  transactionHash: '0xa',
  ...more,
});

test('a fill is dated by seconds or milliseconds, and left out at a time that is none', async () => {
  const times = [1_790_000_000, 1_790_000_060_000, '1790000120', 0, 9e14];
  const data = times.map((blockTimestamp, n) => fill({ blockTimestamp, tradeEventId: `e-${n}` }));
  const users = usersOf(createLimitlessData({ http: cannedHttp(() => ({ data })), settings: SETTINGS, now: Date.now }));
  const context = readContext();
  const { trades } = await users.userTrades(`0x${'9a'.repeat(20)}`, { limit: 9, position: null }, context);
  expect(trades.map(({ executedAtUs }) => executedAtUs / 1e6)).toEqual([1_790_000_000, 1_790_000_060, 1_790_000_120]);
  expect(context.badRows.map(({ reason }) => reason)).toEqual(Array(2).fill('blockTimestamp: not a time'));
});

test('fills of one taker order, and fills that are alike, are each on one page', async () => {
  const ofTaker = (more: object) => fill({ tradeEventId: 'e-1', ...more });
  const data = [ofTaker({ orderId: 'o-1' }), ofTaker({ orderId: 'o-2' }), ofTaker({}), fill({}), fill({})];
  const users = usersOf(createLimitlessData({ http: cannedHttp(() => ({ data })), settings: SETTINGS, now: Date.now }));
  const ids: string[] = [];
  let position: Parameters<PlatformUsers['userTrades']>[1]['position'] = null;
  for (let page = 0; page < data.length; page++) {
    const { trades, next } = await users.userTrades(`0x${'9a'.repeat(20)}`, { limit: 1, position }, readContext());
    ids.push(...trades.map(({ tradeId }) => tradeId));
    expect(next === null).toBe(page === data.length - 1);
    position = next;
  }
  expect(new Set(ids).size).toBe(data.length);
  expect(ids.slice(0, 3)).toEqual(['e-1:o-1', 'e-1:o-2', 'e-1']);
});

test('fills that are alike have different ids on two pages of the platform too', async () => {
  const pages = [
    { data: [fill({ blockTimestamp: 1_790_000_001 }), fill({})], nextCursor: 'b' },
    { data: [], nextCursor: 'c' },
    { data: [fill({}), fill({ blockTimestamp: 1_789_999_999 })], nextCursor: null },
  ];
  const at = new Map(pages.map((page, index) => [['', 'b', 'c'][index], page]));
  const http = cannedHttp((_, query) => at.get(query.get('cursor') ?? ''));
  const users = usersOf(createLimitlessData({ http, settings: SETTINGS, now: Date.now }));
  const read = async (limit: number): Promise<string[]> => {
    const ids: string[] = [];
    let position: Parameters<PlatformUsers['userTrades']>[1]['position'] = null;
    do {
      const page = await users.userTrades(`0x${'9a'.repeat(20)}`, { limit, position }, readContext());
      ids.push(...page.trades.map(({ tradeId }) => tradeId));
      position = page.next;
    } while (position !== null);
    return ids;
  };
  const ids = await read(10);
  expect([ids.length, new Set(ids).size, ids[2]]).toEqual([4, 4, `${ids[1]}.2`]);
  expect(await read(1)).toEqual(ids);
});

test('what a cache kept is dated when it was made', async () => {
  const http: PlatformHttp = {
    send: async ({ url }) => ({
      status: 200,
      headers: { age: '40' },
      text: '',
      json: url.includes('/history') ? { data: [] } : { clob: [] },
      receivedAt: '2026-11-20T12:00:00.000Z',
    }),
    close: async () => {},
  };
  const users = usersOf(createLimitlessData({ http, settings: SETTINGS, now: Date.now }));
  const wallet = `0x${'9a'.repeat(20)}`;
  const readAt = '2026-11-20T11:59:20.000Z';
  expect(await users.positions(wallet, readContext())).toMatchObject({ readAt });
  expect(await users.userTrades(wallet, { limit: 5, position: null }, readContext())).toMatchObject({ readAt });
});
