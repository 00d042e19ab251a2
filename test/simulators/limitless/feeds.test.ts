import { afterEach, describe, expect, it } from 'vitest';
import { clob, closeRigs, plain, rig, rows, tape, type Row } from './rig.ts';

afterEach(closeRigs);

const MINUTE = 60_000;

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
    expect((await get(`/markets/${slug}/events?limit=10&page=1&side=0`)).status).toBe(400);
    const behind = (await get(`/markets/${slug}/events?limit=10&page=1000`)).body;
    expect(Object.keys(behind)).toEqual(['events', 'totalPages']);
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
    const { quotes } = market;
    const quote = [...quotes.kept()].findLast((index) => quotes.cell(index, 0) <= at);
    expect(points[3]?.['price']).toBe(
      quote === undefined ? 0.5 : (quotes.cell(quote, 1) + quotes.cell(quote, 2)) / 2000,
    );
    const group = [...world.groups.values()][0];
    const series = (await get(`/markets/${group?.slug}/historical-price?interval=all`)).body as unknown as Row[];
    expect(series.map((one) => one['title'])).toEqual(group?.children.map((child) => child.title));
  });
});
