import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualClock, type ManualClock } from '../lib/index.ts';
import { startPolymarket, type PolymarketWorld } from '../polymarket.ts';
import { readerOf, type Reader, type Row } from './reader.ts';
import { bookHash, type WireBook } from './world/book.ts';
import { hasBook, type SimMarket } from './world/model.ts';
import { ONE, priceText } from './world/units.ts';
import type { Simulator } from '../simulator.ts';

let clock: ManualClock;
let sim: Simulator<PolymarketWorld>;
let world: PolymarketWorld;
let reader: Reader;

beforeAll(async () => {
  clock = manualClock('2026-11-20T12:00:00Z');
  sim = await startPolymarket({ clock });
  ({ world } = sim);
  Object.assign(world.dataApi, { v1: 'on', cdn: false });
  reader = readerOf(sim);
});
afterAll(() => sim.close());

const find = (wanted: (market: SimMarket) => boolean): SimMarket => {
  const market = world.markets.find(wanted);
  if (!market) throw new Error('the world has no such market');
  return market;
};
const traded = (): SimMarket => find((market) => market.state === 'open' && market.trades.length > 10);

const flip = (levels: WireBook['bids']) => levels.map(({ price, size }) => [(1 - Number(price)).toFixed(4), size]);

const history = async (query: string) => {
  const reply = await reader.ask('CLOB', `/prices-history?market=${query}`);
  return {
    status: reply.status,
    body: (await reply.json()) as { history: { t: number; p: number }[]; error?: string },
  };
};

describe('the CLOB', () => {
  const KNOWN: WireBook = {
    market: '0xaabbcc',
    asset_id: '100',
    timestamp: '123456789',
    hash: '',
    bids: [
      { price: '0.3', size: '100' },
      { price: '0.4', size: '100' },
    ],
    asks: [
      { price: '0.6', size: '100' },
      { price: '0.7', size: '100' },
    ],
    min_order_size: '100',
    tick_size: '0.01',
    neg_risk: false,
    last_trade_price: '0.5',
  };

  test('hashes books as the platform does', async () => {
    expect(bookHash(KNOWN)).toBe('0458ea5755c9f73d64a14636fa5c36ed460ec394');
    const book = await reader.clob<WireBook>(`/book?token_id=${traded().tokenIds[0]}`);
    expect(
      createHash('sha1')
        .update(JSON.stringify({ ...book, hash: '' }))
        .digest('hex'),
    ).toBe(book.hash);
  });

  test('one book is mirrored into both tokens, best level last', async () => {
    const books = (await (
      await reader.ask('CLOB', '/books', {
        method: 'POST',
        body: JSON.stringify(traded().tokenIds.map((token_id) => ({ token_id }))),
      })
    ).json()) as WireBook[];
    const [first, second] = books as [WireBook, WireBook];
    expect(second.asks.map(({ price, size }) => [Number(price).toFixed(4), size])).toEqual(flip(first.bids));
    expect(second.bids.map(({ price, size }) => [Number(price).toFixed(4), size])).toEqual(flip(first.asks));
    const bids = first.bids.map(({ price }) => Number(price));
    expect(bids).toEqual(bids.toSorted((a, b) => a - b));
    expect(Number(first.asks.at(-1)?.price)).toBeGreaterThan(bids.at(-1) ?? 1);
    const row = await reader.gamma<Row>(`/markets/${traded().id}`);
    expect([row.bestBid, row.bestAsk]).toEqual([bids.at(-1), Number(first.asks.at(-1)?.price)]);
  });

  test('BUY asks for the best bid; an empty side is "0" and counts as 0 in the midpoint', async () => {
    const [token] = traded().tokenIds;
    const book = await reader.clob<WireBook>(`/book?token_id=${token}`);
    expect(await reader.clob(`/price?token_id=${token}&side=BUY`)).toEqual({ price: book.bids.at(-1)?.price });
    expect(await reader.clob(`/price?token_id=${token}&side=SELL`)).toEqual({ price: book.asks.at(-1)?.price });
    const [empty] = find((market) => market.bidTick === 0).tokenIds;
    expect(await reader.clob(`/price?token_id=${empty}&side=BUY`)).toEqual({ price: '0' });
    expect(await reader.clob(`/midpoint?token_id=${empty}`)).toEqual({ mid: '0.0005' });
  });

  test('a closed market has no book, and its last trade price is in the token that traded', async () => {
    const closed = find((market) => market.state === 'resolved' && hasBook(market));
    const reply = await reader.ask('CLOB', `/book?token_id=${closed.tokenIds[0]}`);
    expect([reply.status, await reply.json()]).toEqual([
      404,
      { error: 'No orderbook exists for the requested token id' },
    ]);
    const market = find((one) => one.state === 'open' && world.trades(one).at(-1)?.outcome === 1);
    const books = await Promise.all(market.tokenIds.map((token) => reader.clob<WireBook>(`/book?token_id=${token}`)));
    const [a, b] = books.map((book) => book.last_trade_price);
    expect(a).toBe(b);
    expect(a).toMatch(/^0\.\d{3}/);
  });

  test('prices-history caps windows at 15 days, wants coarser steps for presets, and is empty for max on resolved markets', async () => {
    const now = clock.now() / 1000;
    const [token] = traded().tokenIds;
    const day = await history(`${token}&startTs=${now - 86_400}&endTs=${now}&fidelity=1`);
    expect(day.body.history.length).toBeGreaterThan(1430);
    expect(day.body.history.some(({ t }) => t % 60 !== 0)).toBe(true);
    expect((await history(`${token}&startTs=${now - 16 * 86_400}&endTs=${now}`)).body.error).toBe(
      "'startTs' and 'endTs' interval is too long",
    );
    expect((await history(`${token}&startTs=${now - 16 * 86_400}`)).status).toBe(200);
    expect((await history(`${token}&interval=1m&fidelity=5`)).body.error).toBe(
      "minimum 'fidelity' for '1m' range is 10",
    );
    const [old] = find((market) => market.state === 'resolved' && market.trades.length > 0).tokenIds;
    expect((await history(`${old}&interval=max`)).body.history).toEqual([]);
    expect((await history(`${old}&interval=max&fidelity=720`)).body.history.length).toBeGreaterThan(0);
    expect((await history(`${traded().conditionId}&interval=1d`)).status).toBe(400);
  });

  test('its market list ends with LTE=', async () => {
    const page = await reader.clob<{ data: Row[]; next_cursor: string }>('/markets?next_cursor=MA==');
    expect(page.next_cursor).toBe('LTE=');
    expect(page.data).toHaveLength(world.markets.filter(hasBook).length);
  });
});

const rowOf = (trade: ReturnType<PolymarketWorld['trade']>, fill?: (typeof trade.fills)[number]) => {
  const { wallet, side, outcome, price, size } = fill ?? trade;
  return [
    trade.transactionHash,
    wallet.address,
    side,
    trade.market.tokenIds[outcome],
    Number(priceText(price)),
    Number(size) / 1e6,
  ];
};

const printed = (wire: Row) => {
  const price = Number(Number(wire.price).toFixed(10));
  return [
    wire.transactionHash ?? wire.transaction_hash,
    wire.proxyWallet ?? wire.proxy_wallet,
    wire.side,
    wire.asset ?? wire.token_id,
    price,
    wire.size,
  ];
};

const unlabelled = async () =>
  (await reader.data<{ data: Row[] }>('/v2/trades?limit=10')).data.filter((wire) => wire.outcome_index === 999).length;

describe('the Data API', () => {
  test('v1 lists taker rows newest first; with takerOnly=false each is followed by its makers, the other token included', async () => {
    const trades = world.trades().toReversed();
    const takers = await reader.data('/trades?limit=10000');
    expect(takers.map(printed)).toEqual(trades.map((trade) => rowOf(trade)));
    expect(takers[0]).not.toHaveProperty('id');
    const all = await reader.data('/trades?limit=10000&takerOnly=false');
    expect(all.map(printed)).toEqual(
      trades.flatMap((trade) => [rowOf(trade), ...trade.fills.map((fill) => rowOf(trade, fill))]),
    );
    expect(trades.some((trade) => trade.fills.some((fill) => fill.outcome !== trade.outcome))).toBe(true);
  });

  test('v1 refuses deep offsets, half a filter, and market together with eventId', async () => {
    for (const [query, error] of [
      ['offset=3001', 'max historical activity offset of 3000 exceeded'],
      ['filterType=CASH', "'filterType' and 'filterAmount' must be given together"],
      [`market=${traded().conditionId}&eventId=${traded().event.id}`, "'market' and 'eventId' are mutually exclusive"],
    ]) {
      const reply = await reader.ask('DATA', `/trades?${query}`);
      expect([reply.status, await reply.json()]).toEqual([400, { error }]);
    }
    const big = await reader.data('/trades?limit=1000&filterType=CASH&filterAmount=500');
    expect(big.length).toBeGreaterThan(0);
    expect(big.every((trade) => Number(trade.price) * Number(trade.size) >= 500)).toBe(true);
    const market = traded();
    expect((await reader.data(`/trades?market=${market.conditionId}&limit=1000`)).length).toBe(market.trades.length);
  });

  test('offset pages shift while they are read: a row of one page comes again on the next', async () => {
    world.drift.trades = 7;
    const [first, second] = [await reader.data('/trades?limit=50'), await reader.data('/trades?limit=50&offset=50')];
    world.drift.trades = 0;
    expect(second.slice(0, 7).map(printed)).toEqual(first.slice(-7).map(printed));
  });

  test('a v2 walk misses nothing and repeats nothing while trades go on; offset and foreign cursors are 400', async () => {
    const before = world
      .trades()
      .map((trade) => rowOf(trade))
      .toReversed();
    const seen: unknown[][] = [];
    let cursor = '';
    do {
      const body = await reader.data<{ data: Row[]; pagination: { next_cursor: string | null } }>(
        `/v2/trades?limit=300${cursor && `&cursor=${cursor}`}`,
      );
      seen.push(...body.data.filter((wire) => !wire.is_combo).map(printed));
      cursor = body.pagination.next_cursor ?? '';
      sim.trade(5);
    } while (cursor);
    expect(seen).toEqual(before);
    for (const query of ['offset=10', 'limit=1001', 'cursor=bm9uc2Vuc2U', 'condition=0x12']) {
      const reply = await reader.ask('DATA', `/v2/trades?${query}`);
      expect([reply.status, ((await reply.json()) as Row).code]).toEqual([400, 'invalid_request']);
    }
  });

  test('a slow indexer shows trades late and out of order, v2 without their outcome at first', async () => {
    world.indexer.delayMs = 30_000;
    world.indexer.jitterMs = 60_000;
    const before = world.ledger.tape.count;
    sim.trade(40);
    const fresh = new Set(
      world
        .trades()
        .slice(before)
        .map((trade) => trade.transactionHash),
    );
    const shown = async () =>
      (await reader.data('/trades?limit=200')).filter((wire) => fresh.has(String(wire.transactionHash))).length;
    expect(await shown()).toBe(0);
    clock.advance(60_000);
    const some = await shown();
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(fresh.size);
    world.indexer.delayMs = 0;
    world.indexer.jitterMs = 0;
    sim.trade(10);
    expect(await unlabelled()).toBeGreaterThan(0);
    clock.advance(world.indexer.labelMs);
    expect(await unlabelled()).toBe(0);
  });

  test('the demo user has open, redeemable and closed positions that follow from its rows', async () => {
    const user = world.demoUser.address;
    const held = new Map<string, bigint>();
    for (const trade of world.trades()) {
      for (const part of [trade, ...trade.fills]) {
        const key = trade.market.tokenIds[part.outcome] ?? '';
        if (part.wallet === world.demoUser)
          held.set(key, (held.get(key) ?? 0n) + (part.side === 'BUY' ? part.size : -part.size));
      }
    }
    for (const act of world.activities) {
      for (const outcome of [0, 1] as const) {
        const key = act.market?.tokenIds[outcome];
        if (key && act.wallet === world.demoUser) held.set(key, (held.get(key) ?? 0n) + act.shares[outcome]);
      }
    }
    const rows = await reader.data(`/positions?user=${user}&sizeThreshold=0&limit=500`);
    expect(new Map(rows.map((wire) => [wire.asset, wire.size]))).toEqual(
      new Map([...held].filter(([, size]) => size > 0n).map(([token, size]) => [token, Number(size) / 1e6])),
    );
    for (const status of ['OPEN', 'REDEEMABLE', 'CLOSED']) {
      const body = await reader.data<{ data: Row[] }>(`/v2/positions?user=${user}&status=${status}`);
      expect(body.data.length).toBeGreaterThan(0);
    }
    const paid = rows.filter((wire) => wire.redeemable).map((wire) => wire.curPrice);
    expect(paid).toContain(1);
    expect((await reader.data(`/closed-positions?user=${user}`)).length).toBeGreaterThan(0);
    expect((await reader.data(`/activity?user=${user}&type=REDEEM`))[0]).toMatchObject({
      side: '',
      outcomeIndex: 999,
      type: 'REDEEM',
    });
  });

  test('open interest is the complete sets outstanding', async () => {
    const market = traded();
    expect(await reader.data(`/oi?market=${market.conditionId}`)).toEqual([
      { market: market.conditionId, value: Number(market.sets) / 1e6 },
    ]);
  });

  test('the price history of a settled market ends with what it paid', async () => {
    const market = find((one) => one.payouts?.[0] === ONE && one.trades.length > 0);
    const body = await reader.data<{ data: Row[] }>(
      `/v2/prices-history?token_id=${market.tokenIds[0]}&interval=max&limit=10000`,
    );
    expect(body.data.at(-1)).toEqual({
      timestamp: Math.floor((market.resolvedMs ?? 0) / 1000),
      price: 1,
      resolution_seconds: 0,
    });
  });
});
