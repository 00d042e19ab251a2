import { afterEach, describe, expect, it } from 'vitest';
import type { ClobMarket, Market } from './model.ts';
import { clob, clobs, closeRigs, listAll, numbers, plain, rig, rows, tape, type Row } from './rig.ts';

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

  it('agrees with itself: volume, last trade, book, prices and quotes agree after trading', async () => {
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

describe('searches', () => {
  it('narrow the list by a numbered category, and find by words with a similarity to pass', async () => {
    const { get } = await rig();
    const kinds = (await get('/categories')).body as unknown as Row[];
    const sports = kinds.find((kind) => kind['name'] === 'Sports');
    const found = rows((await get(`/markets/active/${String(sports?.['id'])}?limit=25`)).body['data']);
    expect(found.map((row) => row['automationType'])).toEqual(found.map(() => 'sports'));
    const counts = (await get('/markets/categories/count')).body;
    expect((counts['category'] as Row)[String(sports?.['id'])]).toBe(found.length);
    const loose = (await get('/markets/search?query=satellites%20teapot&similarityThreshold=0.5')).body;
    expect(rows(loose['markets']).map((row) => row['title'])).toContainEqual(expect.stringContaining('satellites'));
    expect(
      (await get('/markets/search?query=satellites%20teapot&similarityThreshold=0.9')).body['totalMarketsCount'],
    ).toBe(0);
    expect((await get('/markets/search?query=')).status).toBe(400);
    expect((await get('/markets/search?query=a&limit=51')).status).toBe(400);
  });
});

describe('market objects', () => {
  it('mark a child by another marketType on its own page, which alone has groupSlug and payoutNumerators', async () => {
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
  it('print what the platform prints: meaningless quotes, payouts that may be null, and a split without a winner', async () => {
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

describe('limits', () => {
  it('turn calls that follow too closely into 429: Cloudflare without a token, JSON with one', async () => {
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

  it('take many look-ups of profiles for scraping', async () => {
    const { sim, world, get } = await rig({ limits: { spacingMs: 0, profilesPerMinute: 2 } });
    sim.enforceLimits = true;
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await get(`/profiles/${world.demoProfile.address}`)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('allow two calls at once and no third', async () => {
    const { sim, get } = await rig({ limits: { spacingMs: 0 }, latencyMs: 60 });
    sim.enforceLimits = true;
    const replies = await Promise.all([1, 2, 3].map(() => get('/categories')));
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([200, 200, 429]);
  });
});
