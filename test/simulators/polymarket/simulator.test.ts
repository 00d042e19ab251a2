import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notionalUsd, parseUsd } from '../../../src/core/decimal.ts';
import { manualClock, type ManualClock } from '../lib/index.ts';
import { startPolymarket, type PolymarketWorld } from '../polymarket.ts';
import { createLimits } from './limits.ts';
import { readerOf, type Reader, type Row } from './reader.ts';
import { hasBook, isClosed, type SimMarket } from './world/model.ts';
import { DAY, HOUR, MINUTE, ONE, priceText } from './world/units.ts';
import type { Simulator } from '../simulator.ts';

const NOON = '2026-11-20T12:00:00Z';

let clock: ManualClock;
let sim: Simulator<PolymarketWorld>;
let world: PolymarketWorld;
let reader: Reader;

beforeAll(async () => {
  clock = manualClock(NOON);
  sim = await startPolymarket({ clock });
  ({ world } = sim);
  reader = readerOf(sim);
});
afterAll(() => sim.close());

const find = (wanted: (market: SimMarket) => boolean): SimMarket => {
  const market = world.markets.find(wanted);
  if (!market) throw new Error('the world has no such market');
  return market;
};
const traded = (): SimMarket => find((market) => market.state === 'open' && market.trades.length > 10);
const row = async (market: SimMarket): Promise<Row> => reader.gamma<Row>(`/markets/${market.id}`);

const print = (one: PolymarketWorld) =>
  one
    .trades()
    .slice(0, 500)
    .map((t) => [t.transactionHash, t.price, t.size]);

describe('the world', () => {
  test('is the same, id by id and trade by trade, for the same options', async () => {
    const twin = await startPolymarket({ clock: manualClock(NOON) });
    expect(twin.world.markets.map(({ id, slug }) => [id, slug])).toEqual(
      world.markets.map(({ id, slug }) => [id, slug]),
    );
    expect(print(twin.world)).toEqual(print(world));
    await twin.close();
  });

  test('counts every trade once: taker rows add up to the volume, fills to their taker', () => {
    for (const market of world.markets) {
      const trades = world.trades(market);
      expect(trades.reduce((sum, trade) => sum + notionalUsd(trade.price, trade.size), 0n)).toBe(market.volume);
      for (const trade of trades) expect(trade.fills.reduce((sum, fill) => sum + fill.size, 0n)).toBe(trade.size);
    }
  });

  test('holds as many shares of either outcome as complete sets are outstanding', () => {
    for (const market of world.markets.filter((one) => hasBook(one) && one.state !== 'resolved')) {
      const held = [0, 0];
      for (const [first, second] of world.ledger.holders(market).values()) {
        held[0] = (held[0] ?? 0) + first;
        held[1] = (held[1] ?? 0) + second;
      }
      expect(held.map(BigInt)).toEqual([market.sets, market.sets]);
    }
  });

  test('has trades that share a second, a transaction, and even every field', () => {
    const trades = world.trades();
    const keys = trades.map((t) => [t.transactionHash, t.wallet.index, t.outcome, t.side, t.price, t.size].join());
    expect(new Set(keys).size).toBeLessThan(keys.length);
    expect(new Set(trades.map((t) => t.transactionHash)).size).toBeLessThan(keys.length - 20);
    expect(trades.some((t) => priceText(t.price).length > 8)).toBe(true);
  });
});

const pages = async (path: string): Promise<{ rows: Row[]; pages: number }> => {
  const rows: Row[] = [];
  let after = '';
  for (let page = 1; ; page++) {
    const body = await reader.gamma<{ events: Row[]; next_cursor?: string }>(`${path}${after}`);
    rows.push(...body.events);
    if (!('next_cursor' in body)) return { rows, pages: page };
    after = `&after_cursor=${body.next_cursor}`;
  }
};

describe('Gamma', () => {
  test('a keyset walk lists every event once and ends with an absent next_cursor', async () => {
    const open = await pages('/events/keyset?closed=false&limit=7');
    const closed = await pages('/events/keyset?closed=true&limit=7');
    const ids = [...open.rows, ...closed.rows].map(({ id }) => id);
    expect(open.pages).toBeGreaterThan(2);
    expect(ids.toSorted()).toEqual(
      world.events
        .filter((event) => !event.archived)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  test('closed markets, hidden by default, come with closed=true; archived ones only by id', async () => {
    const ids = new Set(
      [...(await reader.gamma('/markets?limit=100')), ...(await reader.gamma('/markets?limit=100&closed=true'))].map(
        ({ id }) => id,
      ),
    );
    expect((await reader.gamma('/markets?limit=100')).every((market) => market.closed === false)).toBe(true);
    const hidden = find((market) => market.archived);
    expect(ids.size).toBe(world.markets.filter((market) => !market.archived).length);
    expect(ids.has(hidden.id)).toBe(false);
    expect((await row(hidden)).archived).toBe(true);
  });

  test('limits are clamped, offsets and foreign cursors on keyset lists are 422', async () => {
    expect((await reader.gamma('/markets?limit=5000&closed=false')).length).toBeLessThanOrEqual(100);
    const refused = await reader.ask('GAMMA', '/markets/keyset?offset=10');
    expect([refused.status, await refused.json()]).toEqual([
      422,
      { type: 'validation error', error: 'offset is not allowed on keyset endpoints' },
    ]);
    const { next_cursor } = await reader.gamma<{ next_cursor: string }>('/markets/keyset?limit=2&order=volumeNum');
    expect((await reader.ask('GAMMA', `/markets/keyset?limit=2&order=id&after_cursor=${next_cursor}`)).status).toBe(
      422,
    );
    expect(
      (await reader.ask('GAMMA', `/markets/keyset?limit=2&order=volumeNum&after_cursor=${next_cursor}`)).status,
    ).toBe(200);
  });

  test('lists are ordered as asked, numbers as numbers', async () => {
    const rows = await reader.gamma('/markets?order=volumeNum&ascending=false&limit=20');
    const volumes = rows.map((market) => Number(market.volumeNum));
    expect(volumes).toEqual(volumes.toSorted((a, b) => b - a));
    expect((await reader.gamma('/markets?limit=3')).map(({ id }) => Number(id))).toEqual(
      world.markets
        .filter((m) => !isClosed(m))
        .map((m) => Number(m.id))
        .toSorted((a, b) => a - b)
        .slice(0, 3),
    );
  });

  test('repeated filters find markets by any of their ids', async () => {
    const [a, b] = world.markets.filter((market) => market.state === 'open');
    const ids = [a?.id, b?.id];
    const query = [
      `id=${a?.id}&id=${b?.id}`,
      `slug=${a?.slug}&slug=${b?.slug}`,
      `condition_ids=${a?.conditionId}&condition_ids=${b?.conditionId}`,
      `clob_token_ids=${a?.tokenIds[0]}&clob_token_ids=${b?.tokenIds[1]}`,
    ];
    for (const one of query) expect((await reader.gamma(`/markets?${one}`)).map(({ id }) => id)).toEqual(ids);
  });

  test('numbers that are zero or unknown are absent keys, prices and lists strings inside strings', async () => {
    const untraded = await row(find((market) => market.question === 'Will anyone trade this market?'));
    for (const key of ['volume', 'volumeNum', 'volume24hr', 'lastTradePrice', 'oneDayPriceChange'])
      expect(untraded).not.toHaveProperty(key);
    const noBid = await row(find((market) => market.bidTick === 0));
    expect(noBid).not.toHaveProperty('bestBid');
    const noAsk = await row(find((market) => market.askTick === 1000));
    expect(noAsk.bestAsk).toBe(1);
    const market = traded();
    const usual = await row(market);
    expect(JSON.parse(String(usual.outcomes))).toEqual(market.outcomes);
    expect(JSON.parse(String(usual.clobTokenIds))).toEqual(market.tokenIds);
    expect(
      JSON.parse(String(usual.outcomePrices))
        .map(Number)
        .reduce((a: number, b: number) => a + b),
    ).toBeCloseTo(1, 12);
  });

  test('volumes are the sum of the tape, printed now and then with the noise of floats', async () => {
    const rows = (await reader.gamma('/markets?limit=100')).filter((market) => 'volume' in market);
    for (const market of rows) expect(parseUsd(String(market.volume))).toBe(find(({ id }) => id === market.id).volume);
    expect(rows.some((market) => String(market.volume).replace('.', '').length >= 15)).toBe(true);
  });

  test('a resolved market keeps its last quotes, says closedTime with a space, and may never name UMA', async () => {
    const resolved = await row(
      find((market) => market.state === 'resolved' && market.showsUma && market.legacy === null),
    );
    expect(resolved).toMatchObject({
      closed: true,
      active: true,
      acceptingOrders: false,
      umaResolutionStatus: 'resolved',
    });
    expect(resolved.closedTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$/);
    expect(Number(resolved.bestBid)).toBeGreaterThan(0);
    expect(resolved).not.toHaveProperty('liquidity');
    const silent = await row(find((market) => market.acceptingWhenClosed));
    expect(silent).toMatchObject({ closed: true, acceptingOrders: true, outcomePrices: '["1", "0"]' });
    expect(silent).not.toHaveProperty('umaResolutionStatus');
    const split = await row(find((market) => market.payouts?.[0] === ONE / 2n && !market.archived));
    expect(split.outcomePrices).toBe('["0.5", "0.5"]');
  });

  test('the old rows have their own keys: scalar, no winner, three outcomes', async () => {
    const [scalar, none, three] = await Promise.all(
      ['43', '44', '45'].map((id) => reader.gamma<Row>(`/markets/${id}`)),
    );
    expect(scalar).toMatchObject({
      marketType: 'scalar',
      outcomes: '["Long", "Short"]',
      volume: '46944.579746',
      volumeNum: 46944.58,
      volume24hr: 0,
    });
    expect(scalar).not.toHaveProperty('enableOrderBook');
    expect(none?.outcomePrices).toBe('["0", "0"]');
    expect(three).toMatchObject({ conditionId: '', outcomes: '["Nightfall", "The Long Field", "Ironwood"]' });
    expect(three).not.toHaveProperty('clobTokenIds');
  });

  test('finds a profile by name among nulls', async () => {
    const { profiles } = await reader.gamma<{ profiles: (Row | null)[] }>(
      `/public-search?q=${world.demoUser.name}&search_profiles=true`,
    );
    expect(profiles).toContain(null);
    expect(profiles.find((one) => one?.name === world.demoUser.name)?.proxyWallet).toBe(world.demoUser.address);
  });
});

describe('time', () => {
  test('trades move price, volume and books; a day later the 24 h volume is gone and the total stays', async () => {
    const market = traded();
    const before = await row(market);
    for (let i = 0; i < 10; i++) world.makeTrade(market);
    const after = await row(market);
    expect(Number(after.volumeNum)).toBeGreaterThan(Number(before.volumeNum));
    expect(after.lastTradePrice).not.toBe(before.lastTradePrice);
    clock.advance(DAY + HOUR);
    const later = await row(market);
    expect(later).not.toHaveProperty('volume24hr');
    expect(later.volume).toBe(after.volume);
  });

  test('an announced market opens at its time; a pause, a close and a result show on the wire', async () => {
    const market = world.createMarket({
      question: 'Opens in an hour?',
      state: 'unopened',
      acceptingFromMs: clock.now() + HOUR,
    });
    expect((await row(market)).acceptingOrders).toBe(false);
    clock.advance(HOUR);
    expect(await row(market)).toMatchObject({ acceptingOrders: true, closed: false });
    world.pauseMarket(market);
    expect(await row(market)).toMatchObject({ acceptingOrders: false, closed: false });
    world.closeMarket(market, { uma: 'proposed' });
    expect(await row(market)).toMatchObject({ closed: true, umaResolutionStatus: 'proposed' });
    world.resolveMarket(market, 1);
    expect(await row(market)).toMatchObject({
      outcomePrices: '["0", "1"]',
      umaResolutionStatuses: '["proposed", "resolved"]',
    });
  });

  test('a five-minute market closes, resolves a minute later, and its successor is listed', async () => {
    const running = find((market) => market.autoClose && market.state === 'open');
    clock.set(Math.max(clock.now(), running.endMs));
    await reader.gamma('/markets?limit=1');
    expect(running.state).toBe('closed');
    const next = find((market) => market.autoClose && market.state === 'open');
    expect(next.endMs).toBeGreaterThan(clock.now());
    clock.advance(MINUTE);
    await reader.gamma('/markets?limit=1');
    expect(running.state).toBe('resolved');
  });
});

const burst = async () => Promise.all(Array.from({ length: 120 }, () => reader.ask('DATA', '/v2/status')));

describe('rate limits', () => {
  test('hold requests a tenth over the limit, then refuse, until the window has slid', () => {
    let now = 0;
    const limits = createLimits(() => now);
    const kinds = Array.from({ length: 340 }, () => limits.admit('GET /gamma/markets').kind);
    expect(kinds.indexOf('hold')).toBe(300);
    expect(kinds.indexOf('refuse')).toBe(330);
    now = 10_000;
    expect(limits.admit('GET /gamma/markets').kind).toBe('pass');
  });

  test('answer 429 with Retry-After on v2, and are counted; switched off they let everything through', async () => {
    const refused = (await burst()).filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(sim.refused.count).toBe(10);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    const clob = await Promise.all(Array.from({ length: 114 }, () => reader.ask('CLOB', '/ok')));
    const bodies = await Promise.all(clob.filter(({ status }) => status === 429).map((reply) => reply.text()));
    expect(bodies).toContain('{"error":"Too Many Requests"}');
    expect(bodies.some((body) => body.includes('Error 1015'))).toBe(true);
    sim.enforceLimits = false;
    expect((await burst()).every(({ status }) => status === 200)).toBe(true);
    sim.enforceLimits = true;
  });
});
