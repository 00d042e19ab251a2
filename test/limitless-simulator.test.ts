import { afterEach, describe, expect, it } from 'vitest';
import type { ClobMarket, Market } from './simulators/limitless/model.ts';
import {
  clob,
  clobs,
  closeRigs,
  listAll,
  numbers,
  plain,
  rig,
  rows,
  tape,
  type Row,
} from './simulators/limitless/rig.ts';

afterEach(closeRigs);

const MINUTE = 60_000;

describe('a world', () => {
  it('is the same for the same seed and clock, and another for another seed', async () => {
    const [a, b, c] = [await rig({ seed: 4 }), await rig({ seed: 4 }), await rig({ seed: 5 })];
    for (const one of [a, b, c]) one.sim.trade(50);
    const path = '/markets/active?limit=25';
    expect((await a.get(path)).text).toBe((await b.get(path)).text);
    expect((await a.get(path)).text).not.toBe((await c.get(path)).text);
  });

  it('agrees with itself: volume, last trade, book, prices and quotes tell one story after trading', async () => {
    const { world, sim, get } = await rig();
    const before = clobs(world).reduce((sum, { trades }) => sum + trades.length, 0);
    sim.trade(300);
    expect(clobs(world).reduce((sum, { trades }) => sum + trades.length, 0)).toBe(before + 300);
    for (const market of world.openMarkets()) {
      const { body: detail } = await get(`/markets/${market.slug}`);
      const { body: book } = await get(`/markets/${market.slug}/orderbook`);
      const events = await tape(get, market.slug, 100);
      const paid = events.reduce((sum, event) => sum + BigInt(event['takerAmount'] as string), 0n);
      expect(detail['volume']).toBe(paid.toString());
      const [bids, asks] = [rows(book['bids']), rows(book['asks'])];
      const [bid, ask] = [Number(bids[0]?.['price']), Number(asks[0]?.['price'])];
      expect(bid).toBeLessThan(ask);
      expect(book['midpoint']).toBeCloseTo((bid + ask) / 2, 10);
      expect(numbers(detail['prices'])[0]).toBe(book['midpoint']);
      expect(detail['tradePrices']).toMatchObject({
        buy: { market: [ask, expect.closeTo(1 - bid, 10)] },
        sell: { market: [bid, expect.closeTo(1 - ask, 10)] },
      });
      const last = events[0] as Row;
      const yes = last['tokenId'] === market.tokens[0] ? Number(last['price']) : 1 - Number(last['price']);
      expect(book['lastTradePrice']).toBeCloseTo(yes, 10);
    }
  });

  it('of a thousand markets with five hundred trades each stands within seconds', async () => {
    const before = performance.now();
    const { world, get } = await rig({ markets: 1000, tradesPerMarket: 500 });
    expect(performance.now() - before).toBeLessThan(15_000);
    expect(world.markets.size).toBeGreaterThanOrEqual(1000);
    expect(rows((await get('/markets/active?limit=25&page=9')).body['data'])).toHaveLength(25);
  });
});

describe('listings', () => {
  it('refuse more than 25 rows with a Nest body, and answer an empty page beyond the end', async () => {
    const { get } = await rig();
    const refused = await get('/markets/active?limit=26');
    expect([refused.status, refused.body['statusCode'], refused.body['error']]).toEqual([400, 400, 'Bad Request']);
    const { body } = await get('/markets/active?limit=25&page=999');
    expect(body['data']).toEqual([]);
    expect(Number(body['totalMarketsCount'])).toBeGreaterThan(10);
  });

  it('hold what can be traded and nothing else, a group counted once with its children inside', async () => {
    const { world, get } = await rig();
    const all = await listAll(get);
    const top = await get('/markets/active?limit=1');
    expect(top.body['totalMarketsCount']).toBe(all.length);
    expect(
      all.every((row) => /^(MarketStatus\.)?FUNDED$/.test(String(row['status'])) && row['expired'] === false),
    ).toBe(true);
    const children = clobs(world).filter((market) => market.group);
    expect(all.some((row) => children.some((child) => child.slug === row['slug']))).toBe(false);
    const groups = all.filter((row) => row['marketType'] === 'group');
    expect(groups.map((row) => row['tradeType'])).toEqual(groups.map(() => 'clob'));
    expect(rows((await get('/markets/active?tradeType=group&limit=25')).body['data'])).toHaveLength(groups.length);
  });

  it('shift their rows when a market appears between two pages', async () => {
    const { world, clock, get } = await rig();
    const first = rows((await get('/markets/active?limit=5&page=1&sortBy=newest')).body['data']);
    clock.advance(1000);
    world.createMarket({ title: 'Will it rain in Varda?' });
    const second = rows((await get('/markets/active?limit=5&page=2&sortBy=newest')).body['data']);
    expect(second[0]?.['id']).toBe(first[4]?.['id']);
  });

  it('say the same as the unpaged slugs, which know the strike of a recurring market', async () => {
    const { get } = await rig();
    const slugs = (await get('/markets/active/slugs')).body as unknown as Row[];
    const listed = (await listAll(get)).map((row) => row['slug']);
    expect(slugs.map((row) => row['slug']).toSorted()).toEqual(listed.toSorted());
    expect(slugs.find((row) => row['ticker'] === 'BTC')?.['strikePrice']).toMatch(/^\d+\.\d{18}$/);
  });
});

describe('market objects', () => {
  it('tell a child by another marketType on its own page, which alone has groupSlug and payoutNumerators', async () => {
    const { world, get } = await rig();
    const group = [...world.groups.values()].find((one) => one.negRiskMarketId !== null);
    const child = group?.children[0] as ClobMarket;
    const listed = (await listAll(get)).find((row) => row['slug'] === group?.slug);
    const nested = rows(listed?.['markets']).find((row) => row['slug'] === child.slug) as Row;
    const own = (await get(`/markets/${child.slug}`)).body;
    expect([nested['marketType'], own['marketType']]).toEqual(['group', 'single']);
    expect([nested['groupId'], own['groupSlug']]).toEqual([group?.id, group?.slug]);
    for (const key of ['groupSlug', 'payoutNumerators']) expect([key in nested, key in own]).toEqual([false, true]);
    expect(listed).not.toHaveProperty('tokens');
    expect(listed).not.toHaveProperty('prices');
  });

  it('leave the NegRisk keys out of a ladder, whose title keeps the gap for the child', async () => {
    const { world, get } = await rig();
    const ladder = [...world.groups.values()].find((one) => one.negRiskMarketId === null);
    const { body } = await get(`/markets/${ladder?.slug}`);
    expect(body).not.toHaveProperty('negRiskMarketId');
    expect(rows(body['markets'])[1]).not.toHaveProperty('negRiskRequestId');
    expect(body['title']).toContain('__');
    expect(body['metadata']).toMatchObject({ type: 'ladder' });
    expect(rows(body['markets']).map((row) => row['orderInGroup'])).toEqual([106, 137, 168, 199]);
  });

  it('of a pool print percent, its address and position ids, and reach the same pool by address and slug', async () => {
    const { world, get } = await rig();
    const pools = [...world.markets.values()].filter((market) => market.kind === 'amm');
    for (const pool of pools) {
      const bySlug = await get(`/markets/${pool.slug}`);
      expect((await get(`/markets/${pool.address}`)).text).toBe(bySlug.text);
      const [yes = 0, no = 0] = numbers(bySlug.body['prices']);
      expect(yes + no).toBe(100);
      expect(bySlug.body['positionIds']).toEqual(pool.tokens);
      expect(bySlug.body).not.toHaveProperty('tokens');
      expect((await get(`/markets/${pool.slug}/orderbook`)).status).toBe(400);
    }
    expect(pools.map((pool) => pool.status)).toContain('MarketStatus.FUNDED');
    expect(pools.map((pool) => pool.collateral.decimals)).toContain(18);
  });

  it('refuse a malformed slug with 400 and an unknown one with a 404 that holds a message only', async () => {
    const { get } = await rig();
    const malformed = await get('/markets/406851');
    expect([malformed.status, malformed.body['message']]).toEqual([
      400,
      'Invalid slug format. Expected format: text-with-numbers-timestamp',
    ]);
    const unknown = await get('/markets/no-such-thing-1790108004599');
    expect([unknown.status, unknown.body]).toEqual([
      404,
      { message: 'Market not found for slug: no-such-thing-1790108004599' },
    ]);
  });
});

describe('the life of a recurring market', () => {
  it('goes hidden CREATED, FUNDED, expired but FUNDED, CLOSED, winner known, RESOLVED, at its own times', async () => {
    const { world, clock, get } = await rig();
    const slot = clob(world, (one) => one.status === 'CREATED' && one.series?.stableSlug === 'btc-15min-price');
    const look = async () => {
      const { body } = await get(`/markets/${slug}`);
      return [body['status'], body['hidden'], body['expired'], body['winningOutcomeIndex']];
    };
    const { slug, startAt, expiresAt } = slot;
    expect(await look()).toEqual(['CREATED', true, false, null]);
    const early = (await get(`/markets/${slug}`)).body;
    expect(early['metadata']).toMatchObject({ openPrice: '---' });
    expect(early['tradePrices']).toMatchObject({ buy: { market: [0, 0], limit: [0, 0] } });
    expect(early['prices']).toEqual([0.5, 0.5]);
    clock.set(startAt as number);
    expect(await look()).toEqual(['FUNDED', false, false, null]);
    clock.set(expiresAt + MINUTE);
    expect(await look()).toEqual(['FUNDED', false, true, null]);
    expect((await listAll(get)).map((row) => row['slug'])).not.toContain(slug);
    clock.set(expiresAt + 4 * MINUTE);
    expect(await look()).toEqual(['CLOSED', false, true, null]);
    clock.set(expiresAt + 8 * MINUTE);
    expect(await look()).toEqual(['CLOSED', false, true, expect.any(Number)]);
    clock.set(expiresAt + 21 * MINUTE);
    expect(await look()).toEqual(['RESOLVED', false, true, expect.any(Number)]);
  });

  it('rolls: the timeline names the next slot before any list does, and that slot opens when its time comes', async () => {
    const { clock, get } = await rig();
    const before = (await get('/markets/eth-15min-price/timeline?after=2')).body;
    const next = before['next'] as unknown as Row;
    expect(next).toMatchObject({ state: 'PRE_OPEN', tradable: false });
    expect((await listAll(get)).map((row) => row['slug'])).not.toContain(next['slug']);
    clock.advance(15 * MINUTE);
    const after = (await get('/markets/timeline?symbol=ETH&frequency=minutely&subFrequency=minutes_15')).body;
    expect(after['current']).toMatchObject({ slug: next['slug'], state: 'OPEN' });
    expect((await listAll(get)).map((row) => row['slug'])).toContain(next['slug']);
  });

  it('ends Up exactly when the oracle candles say so', async () => {
    const { world, clock, get } = await rig();
    clock.advance(120 * MINUTE);
    world.advance();
    const over = clobs(world).filter((one) => one.series && one.status === 'RESOLVED');
    expect(over.length).toBeGreaterThan(20);
    for (const slot of over.slice(0, 5)) {
      const [from, to] = [(slot.startAt as number) / 1000, slot.expiresAt / 1000];
      const { body } = await get(`/markets/${slot.slug}/oracle-candles?interval=5m&from=${from}&to=${to}`);
      const bars = rows(body['rows']);
      const isUp = BigInt(bars.at(-1)?.['close'] as string) >= BigInt(bars[0]?.['open'] as string);
      expect(slot.winningOutcome).toBe(isUp ? 0 : 1);
    }
  });
});

describe('endings', () => {
  it('print what the platform prints: nonsense quotes, payouts that may be null, and a split without a winner', async () => {
    const { world, get } = await rig();
    const ended = async (wanted: (market: Market) => boolean) => {
      const market = clob(world, (one) => one.status === 'RESOLVED' && one.series === null && wanted(one));
      return (await get(`/markets/${market.slug}`)).body;
    };
    const yes = await ended((one) => one.winningOutcome === 0 && one.automationType === 'manual');
    expect(yes).toMatchObject({
      prices: [1, 0],
      payoutNumerators: [1, 0],
      tradePrices: { buy: { market: [0, 0.01] } },
    });
    const no = await ended((one) => one.automationType === 'sports');
    expect(no).toMatchObject({
      winningOutcomeIndex: 1,
      payoutNumerators: null,
      tradePrices: { buy: { market: [0, 1] } },
    });
    expect(await ended((one) => one.winningOutcome === null)).toMatchObject({
      payoutNumerators: [1, 1],
      winningOutcomeIndex: null,
    });
  });

  it('come on demand: locked, expired, announced, resolved, with the book emptied at expiry', async () => {
    const { world, sim, get } = await rig();
    const { slug } = plain(world);
    world.lock(slug);
    expect((await get(`/markets/${slug}`)).body['status']).toBe('LOCKED');
    expect((await get(`/markets/${slug}/orderbook`)).status).toBe(400);
    world.unlock(slug);
    world.expire(slug);
    expect((await get(`/markets/${slug}/orderbook`)).body).toMatchObject({ bids: [], asks: [], midpoint: 0.5 });
    const trades = plain(world).trades.length;
    sim.trade(200);
    expect((world.markets.get(slug) as ClobMarket).trades.length).toBe(trades);
    world.announce(slug, 1);
    expect((await get(`/markets/${slug}`)).body).toMatchObject({
      status: 'FUNDED',
      expired: true,
      winningOutcomeIndex: 1,
    });
    world.resolve(slug, 1);
    expect((await get(`/markets/${slug}`)).body).toMatchObject({ status: 'RESOLVED', prices: [0, 1] });
  });
});

describe('order books', () => {
  it('give sizes in base units, texts for the reward rule, and count a missing side as 0 or 1', async () => {
    const { world, get } = await rig();
    const { slug, book, rewardMinSize } = plain(world);
    const { body } = await get(`/markets/${slug}/orderbook`);
    expect([typeof body['minSize'], typeof body['maxSpread']]).toEqual(['string', 'string']);
    expect(rows(body['bids'])[0]?.['size']).toBe(Number(book.bids[0]?.size));
    const reward = [book.bids, book.asks].map((levels) => levels.find((level) => level.size >= rewardMinSize)?.tick);
    expect(body['adjustedMidpoint']).toBeCloseTo(((reward[0] ?? 0) + (reward[1] ?? 1000)) / 2000, 10);
    book.remove((order) => order.side === 'BUY' && order.outcome === 0);
    expect((await get(`/markets/${slug}/orderbook`)).body).toMatchObject({
      bids: [],
      midpoint: (book.bestAsk as number) / 2000,
    });
  });

  it('are empty, or so wide that a half means nothing, in the markets made for it', async () => {
    const { world, get } = await rig();
    const empty = clob(world, (one) => one.status === 'FUNDED' && one.trades.length === 0 && one.series === null);
    expect((await get(`/markets/${empty.slug}/orderbook`)).body).toMatchObject({
      bids: [],
      asks: [],
      lastTradePrice: null,
    });
    const wide = clob(world, (one) => one.book.bestBid === 2 && one.book.bestAsk === 998);
    expect((await get(`/markets/${wide.slug}`)).body['prices']).toEqual([0.5, 0.5]);
  });
});

describe('the public tape', () => {
  it('lists both tokens newest first without ids, with shared transactions, twins and prices between ticks', async () => {
    const { world, get } = await rig({ tradesPerMarket: 400 });
    const market = plain(world);
    const events = await tape(get, market.slug, 100);
    expect(events).toHaveLength(400);
    const times = events.map((event) => Date.parse(event['createdAt'] as string));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(new Set(events.map((event) => event['tokenId']))).toEqual(new Set(market.tokens));
    expect(new Set(events.map((event) => event['side']))).toEqual(new Set([0, 1]));
    const hashes = new Set(events.map((event) => event['txHash']));
    const lines = new Set(events.map((event) => JSON.stringify(event)));
    expect(hashes.size).toBeLessThan(lines.size);
    expect(lines.size).toBeLessThan(400);
    expect(events.some((event) => (Number(event['price']) * 1000) % 1 > 0.01)).toBe(true);
    expect(events.some((event) => event['makerAmount'] !== event['takerAmount'])).toBe(true);
    for (const [i, event] of events.entries()) {
      const truth = market.trades.at(-1 - i);
      expect([event['matchedSize'], event['takerAmount'], event['txHash']]).toEqual([
        String(truth?.size),
        String(truth?.usd),
        truth?.txHash,
      ]);
      const product = Number(event['price']) * Number(event['matchedSize']);
      expect(Math.abs(product - Number(event['takerAmount']))).toBeLessThan(1 + Number(event['matchedSize']) / 1e6);
    }
  });

  it('drifts while trades arrive between pages, and refuses a limit over 100', async () => {
    const { world, get } = await rig();
    const { slug } = plain(world);
    const first = rows((await get(`/markets/${slug}/events?limit=10&page=1`)).body['events']);
    for (let i = 0; i < 3; i++)
      world.tradeOn(slug, { outcome: 0, side: 'BUY', limitTick: null, want: { shares: 1_000_000n } });
    const second = rows((await get(`/markets/${slug}/events?limit=10&page=2`)).body['events']);
    expect(second.slice(0, 3)).toEqual(first.slice(7));
    expect((await get(`/markets/${slug}/events?limit=101`)).status).toBe(400);
  });

  it('shows a trade only once it is mined, while volume moved at once', async () => {
    const { world, clock, get } = await rig({ minedDelayMs: 5_000 });
    const { slug, volume } = plain(world);
    const count = (await tape(get, slug)).length;
    const trade = world.tradeOn(slug, { outcome: 1, side: 'SELL', limitTick: null, want: { shares: 2_500_000n } });
    expect((await get(`/markets/${slug}`)).body['volume']).toBe(String(volume + (trade?.usd ?? 0n)));
    expect(await tape(get, slug)).toHaveLength(count);
    clock.advance(5_000);
    expect(await tape(get, slug)).toHaveLength(count + 1);
  });
});

describe('price history', () => {
  it('is an object for a market and an array for a group, newest first, the window being no candle size', async () => {
    const { world, get } = await rig();
    const market = plain(world);
    const { body } = await get(`/markets/${market.slug}/historical-price?interval=1d`);
    const points = rows(body['prices']);
    const times = points.map((point) => Number(point['timestamp']));
    expect(times[0] as number).toBeGreaterThan(times[1] as number);
    expect((times[0] as number) - (times[1] as number)).toBe(15 * MINUTE);
    const at = times[3] as number;
    const quote = market.quotes.findLast((one) => one.at <= at);
    expect(points[3]?.['price']).toBe(quote ? (quote.bid + quote.ask) / 2000 : 0.5);
    const group = [...world.groups.values()][0];
    const series = (await get(`/markets/${group?.slug}/historical-price?interval=all`)).body as unknown as Row[];
    expect(series.map((one) => one['title'])).toEqual(group?.children.map((child) => child.title));
  });
});

describe('limits', () => {
  it('turn calls that follow too closely into 429: Cloudflare for strangers, JSON for a token', async () => {
    const { sim, get } = await rig();
    sim.enforceLimits = true;
    expect((await get('/categories')).status).toBe(200);
    const refused = await get('/categories');
    expect([refused.status, refused.type.includes('html')]).toEqual([429, true]);
    expect(refused.text).toContain('error code: 1015');
    const asToken = () =>
      fetch(`${sim.env['LIMITLESS_API_URL']}/categories`, { headers: { 'lmts-api-key': 'a-token' } });
    expect((await asToken()).status).toBe(200);
    const json = await asToken();
    expect([json.status, await json.json()]).toEqual([429, { message: 'Too many requests', statusCode: 429 }]);
    expect(sim.refused.count).toBe(2);
  });

  it('allow two calls at once and no third', async () => {
    const { sim, get } = await rig({ limits: { spacingMs: 0 }, latencyMs: 60 });
    sim.enforceLimits = true;
    const replies = await Promise.all([1, 2, 3].map(() => get('/categories')));
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([200, 200, 429]);
  });
});
