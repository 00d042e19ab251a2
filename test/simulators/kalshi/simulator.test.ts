import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, manualClock, type WireClient, type WireRow } from '../lib/index.ts';
import { startKalshi, type KalshiWorld, type TrueMarket, type TrueTrade } from '../kalshi.ts';
import type { Simulator } from '../simulator.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const HOUR_S = 3600;
const nowS = NOW / 1000;

/** 0.01 contracts of a count text, 0.0001 dollars of a price text. */
const units = (text: string | undefined): bigint => BigInt((text ?? '').replace('.', ''));
const sum = (rows: { count: string }[]): bigint => rows.reduce((total, row) => total + units(row.count), 0n);

let sim: Simulator<KalshiWorld>;
let api: WireClient;

const first = (test: (market: TrueMarket) => boolean): TrueMarket => {
  const found = sim.world.markets.find(test);
  if (!found) throw new Error('the world lacks such a market');
  return found;
};
const isOpen = (market: TrueMarket): boolean => market.status === 'active' && !market.combo;

const withoutId = ({ ticker, timeUs, yesPrice, count, takerSide }: TrueTrade): string =>
  [ticker, timeUs, yesPrice, count, takerSide].join();

describe('a Kalshi of one’s own', () => {
  beforeAll(async () => {
    sim = await startKalshi({ seed: 7, clock: manualClock(NOW), markets: 66 });
    api = createClient(sim.env.KALSHI_API_URL ?? '');
    sim.enforceLimits = false;
    sim.trade(200);
  });
  afterAll(() => sim.close());

  describe('world', () => {
    it('adds up: volume is the sum of all prints, last price the newest print off no block, open interest what is held', () => {
      for (const market of sim.world.markets) {
        const trades = sim.world.tradesOf(market.ticker);
        expect(units(market.volume)).toBe(sum(trades));
        expect(market.lastPrice).toBe(trades.findLast((trade) => !trade.isBlockTrade)?.yesPrice ?? null);
        const dayOld = trades.filter((trade) => trade.timeUs > (NOW - 86_400_000) * 1000);
        expect(units(market.volume24h)).toBe(sum(dayOld));
        const held = [...(sim.world.exchange.marketByTicker.get(market.ticker)?.holdings.values() ?? [])];
        const yes = held.reduce((total, { position }) => total + Math.max(position, 0), 0);
        expect(units(market.openInterest)).toBe(BigInt(yes));
        expect(held.reduce((total, { position }) => total + position, 0)).toBe(0);
      }
    });

    it('prints at the best quote that stood when the taker came', () => {
      for (const market of sim.world.markets.slice(0, 20)) {
        const quotes = sim.world.quotesOf(market.ticker);
        const live = sim.world
          .tradesOf(market.ticker)
          .filter((trade) => !trade.isBlockTrade && trade.timeUs < NOW * 1000);
        for (const trade of live) {
          const around = quotes.filter((quote, at) => {
            const until = quotes[at + 1]?.timeUs ?? Infinity;
            return quote.timeUs <= trade.timeUs && until >= trade.timeUs;
          });
          const prices = around.map((quote) => (trade.takerSide === 'yes' ? quote.yesAsk : quote.yesBid));
          expect(prices).toContain(trade.yesPrice);
        }
      }
    });

    it('holds every status, a tie paid 0.5000, an archive, combos, twins and block trades', () => {
      const { markets, trades } = sim.world;
      const statuses = new Set(markets.map((market) => market.status));
      expect([...statuses].toSorted()).toEqual([
        'active',
        'closed',
        'determined',
        'disputed',
        'finalized',
        'inactive',
        'initialized',
      ]);
      expect(markets.some((market) => market.result === 'scalar' && market.settlementValue === '0.5000')).toBe(true);
      for (const trait of ['archived', 'combo', 'provisional'] as const) {
        expect(markets.some((market) => market[trait])).toBe(true);
      }
      expect(new Set(trades.map(withoutId)).size).toBeLessThan(trades.length);
      expect(new Set(trades.map((trade) => trade.tradeId)).size).toBe(trades.length);
      expect(trades.some((trade) => trade.isBlockTrade && trade.archived)).toBe(true);
    });

    it('keeps a live two-sided market however long the crowd trades', async () => {
      const busy = await startKalshi({ seed: 2, clock: manualClock(NOW), markets: 30, tradesPerMarket: 5 });
      busy.trade(5000);
      const spreads = busy.world.markets
        .filter((market) => isOpen(market) && market.yesBid !== null && market.yesAsk !== null)
        .map(({ yesBid, yesAsk }) => Number(units(yesAsk ?? '') - units(yesBid ?? '')));
      expect(Math.min(...spreads)).toBeGreaterThan(0);
      expect(spreads.toSorted((a, b) => a - b)[Math.floor(spreads.length / 2)]).toBeLessThan(500);
      await busy.close();
    });

    it('builds combos on markets that exist', () => {
      const { exchange } = sim.world;
      const legs = exchange.markets.flatMap(({ spec }) => (spec.fixed.mve_selected_legs ?? []) as WireRow[]);
      expect(legs.length).toBeGreaterThan(5);
      expect(legs.every((leg) => exchange.marketByTicker.has(leg.market_ticker ?? ''))).toBe(true);
    });

    it('is the same world again from the same seed', async () => {
      const again = await startKalshi({ seed: 7, clock: manualClock(NOW), markets: 66 });
      again.trade(200);
      expect(again.world.trades).toEqual(sim.world.trades);
      expect(again.world.markets).toEqual(sim.world.markets);
      await again.close();
    });

    it('makes exactly as many prints as asked', () => {
      const before = sim.world.trades.length;
      sim.trade(123);
      expect(sim.world.trades.length).toBe(before + 123);
    });
  });

  describe('markets', () => {
    it('sends the truth in fixed decimals, leaves out what has no value and has no series or category', async () => {
      for (const row of await api.pages('/markets?limit=1000', 'markets')) {
        const market = sim.world.market(row.ticker ?? '');
        expect(Object.values(row)).not.toContain(null);
        expect(row).not.toHaveProperty('series_ticker');
        expect(row).not.toHaveProperty('category');
        expect(row).toMatchObject({
          status: market.status,
          result: market.result,
          volume_fp: market.volume,
          volume_24h_fp: market.volume24h,
          open_interest_fp: market.openInterest,
          last_price_dollars: market.lastPrice ?? '0.0000',
          yes_bid_dollars: market.yesBid ?? '0.0000',
          yes_ask_dollars: market.yesAsk ?? '1.0000',
          yes_bid_size_fp: market.yesBidSize,
          yes_ask_size_fp: market.yesAskSize,
        });
        expect(units(row.no_bid_dollars) + units(row.yes_ask_dollars)).toBe(10_000n);
        expect('settlement_ts' in row).toBe(market.status === 'finalized');
        expect('settlement_value_dollars' in row).toBe(['determined', 'finalized'].includes(market.status));
      }
    });

    it('quotes 0 and 1 on a market that has closed but keeps its last price', async () => {
      const { ticker, lastPrice } = first((market) => market.status === 'closed');
      const { market } = (await api.get(`/markets/${ticker}`)).body as unknown as { market: WireRow };
      expect(market).toMatchObject({
        yes_bid_dollars: '0.0000',
        yes_ask_dollars: '1.0000',
        yes_bid_size_fp: '0.00',
        last_price_dollars: lastPrice,
      });
    });

    it('pages to an empty cursor without loss or repeat', async () => {
      const live = sim.world.markets.filter((market) => !market.archived && !market.vanished);
      const rows = await api.pages('/markets?limit=7', 'markets');
      expect(rows.map((row) => row.ticker).toSorted()).toEqual(live.map((market) => market.ticker).toSorted());
    });

    it('takes combos off a page after it was cut, so that a page may be empty and not the last', async () => {
      const { body } = await api.get('/markets?limit=2&mve_filter=exclude');
      expect(body.markets).toEqual([]);
      expect(body.cursor).not.toBe('');
      const rows = await api.pages('/markets?limit=2&mve_filter=exclude', 'markets');
      expect(rows.some((row) => String(row.ticker).startsWith('KXMVE'))).toBe(false);
      expect(rows.length).toBeGreaterThan(30);
    });

    it('filters by other words than it answers', async () => {
      const words = { unopened: 'initialized', open: 'active', paused: 'inactive', settled: 'finalized' };
      for (const [word, status] of Object.entries(words)) {
        const rows = await api.pages(`/markets?status=${word}&limit=1000`, 'markets');
        expect(new Set(rows.map((row) => row.status))).toEqual(new Set([status]));
      }
      const closed = await api.pages('/markets?status=closed', 'markets');
      expect(new Set(closed.map((row) => row.status))).toEqual(new Set(['closed', 'determined', 'disputed']));
    });

    it.each([
      ['/markets?limit=1001', undefined],
      ['/events?limit=201', undefined],
      ['/markets?status=finalized', 'invalid status filter'],
      ['/markets?status=active', 'invalid status filter'],
      ['/markets?min_close_ts=1&min_created_ts=1', 'timestamp filters are mutually exclusive'],
      ['/markets?min_settled_ts=1&status=open', 'timestamp filter does not go with this status'],
      ['/markets?min_updated_ts=1', 'min_updated_ts needs mve_filter=exclude and allows only series_ticker beside it'],
      ['/markets?cursor=garbage', 'invalid cursor'],
      ['/historical/markets?event_ticker=A&series_ticker=B', undefined],
    ])('refuses %s', async (path, details) => {
      const { status, body } = await api.get(path);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'bad_request', message: 'bad request', ...(details && { details }) });
    });

    it('drops unknown tickers from a list and answers 404 for a path', async () => {
      const { ticker } = first(isOpen);
      expect((await api.get(`/markets?tickers=${ticker},NOPE-1`)).body.markets?.map((row) => row.ticker)).toEqual([
        ticker,
      ]);
      expect(await api.get('/markets/NOPE-1')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    });

    it('does not find a renamed series’ old markets by the new name', async () => {
      expect(await api.pages('/historical/markets?series_ticker=KXBASERATE', 'markets')).toEqual([]);
      const old = first((market) => market.ticker.startsWith('BASERATE-'));
      const rows = await api.pages(`/historical/markets?event_ticker=${old.eventTicker}`, 'markets');
      expect(rows).toHaveLength(3);
      const { event } = (await api.get(`/events/${old.eventTicker}`)).body as unknown as { event: WireRow };
      expect(event.series_ticker).toBe('KXBASERATE');
    });
  });

  describe('order book', () => {
    it('has bids only, ascending, best last, and a depth that keeps the best', async () => {
      const { ticker, yesBid, yesAsk, yesAskSize } = first((market) => isOpen(market) && market.yesAsk !== null);
      const read = async (depth: number): Promise<{ yes_dollars: string[][]; no_dollars: string[][] }> =>
        (await api.get(`/markets/${ticker}/orderbook?depth=${depth}`)).body.orderbook_fp as never;
      const whole = await read(0);
      for (const side of [whole.yes_dollars, whole.no_dollars]) {
        const prices = side.map(([price]) => units(price as string));
        expect(prices).toEqual(prices.toSorted((a, b) => Number(a - b)));
      }
      expect(whole.yes_dollars.at(-1)?.[0]).toBe(yesBid);
      const [bestNo, size] = whole.no_dollars.at(-1) as [string, string];
      expect([10_000n - units(bestNo), size]).toEqual([units(yesAsk ?? ''), yesAskSize]);
      expect((await read(2)).yes_dollars).toEqual(whole.yes_dollars.slice(-2));
    });

    it('is empty, not absent, on a closed market; several books take repeated tickers', async () => {
      const closed = first((market) => market.status === 'closed').ticker;
      const open = first(isOpen).ticker;
      expect((await api.get(`/markets/${closed}/orderbook`)).body).toEqual({
        orderbook_fp: { yes_dollars: [], no_dollars: [] },
      });
      const many = await api.get(`/markets/orderbooks?tickers=${open}&tickers=NOPE&tickers=${closed}`);
      expect(many.body.orderbooks?.map((row) => row.ticker)).toEqual([open, closed]);
      expect((await api.get(`/markets/orderbooks?tickers=${open},${closed}`)).body.orderbooks).toEqual([]);
    });
  });

  describe('trades', () => {
    it('come newest first, live and historical without gap or overlap', async () => {
      const live = await api.pages('/markets/trades?limit=500', 'trades');
      const old = await api.pages('/historical/trades?limit=500', 'trades');
      expect([...live, ...old].map((row) => row.trade_id)).toEqual(
        sim.world.trades.map((trade) => trade.tradeId).toReversed(),
      );
      expect(old.length).toBeGreaterThan(0);
      expect(new Set(live.map((row) => String(row.created_time).replace(/^[^.Z]*/, '').length)).size).toBeGreaterThan(
        5,
      );
    });

    it('keep their place under a cursor while new ones arrive in front', async () => {
      const before = sim.world.trades.map((trade) => trade.tradeId).toReversed();
      const page1 = (await api.get('/markets/trades?limit=10')).body;
      sim.trade(25);
      const page2 = (await api.get(`/markets/trades?limit=10&cursor=${String(page1.cursor)}`)).body;
      expect([...(page1.trades ?? []), ...(page2.trades ?? [])].map((row) => row.trade_id)).toEqual(
        before.slice(0, 20),
      );
    });

    it('are cut by ticker, time and kind', async () => {
      const { ticker } = first((market) => isOpen(market) && market.lastPrice !== null);
      const since = nowS - 48 * HOUR_S;
      const rows = await api.pages(
        `/markets/trades?ticker=${ticker}&min_ts=${since}&max_ts=${nowS - HOUR_S}&limit=3`,
        'trades',
      );
      const wanted = sim.world
        .tradesOf(ticker)
        .filter((trade) => trade.timeUs >= since * 1e6 && trade.timeUs <= (nowS - HOUR_S) * 1e6);
      expect(rows.map((row) => row.trade_id)).toEqual(wanted.map((trade) => trade.tradeId).toReversed());
      const blocks = await api.pages('/markets/trades?is_block_trade=true', 'trades');
      expect(blocks.length).toBeGreaterThan(0);
      expect(blocks.every((row) => row.is_block_trade)).toBe(true);
    });
  });
});
