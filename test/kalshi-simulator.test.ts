import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manualClock } from './simulators/lib/index.ts';
import { startKalshi, type KalshiWorld, type TrueTrade } from './simulators/kalshi.ts';
import type { Simulator } from './simulators/simulator.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const HOUR_S = 3600;
const nowS = NOW / 1000;
const monthAgo = NOW - 24 * 86_400_000;
/** A row of the wire; the tests assert what is in it. */
type Row = Record<string, string>;
type Json = Record<string, Row[]>;

/** 0.01 contracts of a count text, 0.0001 dollars of a price text. */
const cents = (text: string): bigint => BigInt(text.replace('.', ''));
const sum = (rows: { count: string }[]): bigint => rows.reduce((total, row) => total + cents(row.count), 0n);

const withoutId = ({ ticker, timeUs, yesPrice, count, takerSide }: TrueTrade): string =>
  [ticker, timeUs, yesPrice, count, takerSide].join();

let sim: Simulator<KalshiWorld>;
let clock: ReturnType<typeof manualClock>;

async function get(path: string, base = sim.env.KALSHI_API_URL): Promise<{ status: number; body: Json }> {
  const reply = await fetch(`${base}${path}`);
  return { status: reply.status, body: (await reply.json()) as Json };
}

const social = (path: string): ReturnType<typeof get> => get(path, sim.env.KALSHI_SOCIAL_URL);

async function pages(path: string, list: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ''; ;) {
    const { body } = await get(`${path}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    rows.push(...(body[list] ?? []));
    cursor = String(body.cursor);
    if (cursor === '') return rows;
  }
}

const first = (test: (market: KalshiWorld['markets'][number]) => boolean): KalshiWorld['markets'][number] => {
  const found = sim.world.markets.find(test);
  if (!found) throw new Error('the world lacks such a market');
  return found;
};
const isOpen = (market: KalshiWorld['markets'][number]): boolean => market.status === 'active' && !market.combo;

describe('a Kalshi of one’s own', () => {
  beforeAll(async () => {
    clock = manualClock(NOW);
    sim = await startKalshi({ seed: 7, clock, markets: 66 });
    sim.enforceLimits = false;
    sim.trade(200);
  });
  afterAll(() => sim.close());

  describe('world', () => {
    it('adds up: volume is the sum of all prints, last price the newest print off no block, open interest what is held', () => {
      for (const market of sim.world.markets) {
        const trades = sim.world.tradesOf(market.ticker);
        expect(cents(market.volume)).toBe(sum(trades));
        expect(market.lastPrice).toBe(trades.findLast((trade) => !trade.isBlockTrade)?.yesPrice ?? null);
        const dayOld = trades.filter((trade) => trade.timeUs > (NOW - 86_400_000) * 1000);
        expect(cents(market.volume24h)).toBe(sum(dayOld));
        expect(cents(market.openInterest)).toBeGreaterThanOrEqual(0n);
        expect(cents(market.openInterest)).toBeLessThanOrEqual(cents(market.volume));
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
      for (const row of await pages('/markets?limit=1000', 'markets')) {
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
        expect(cents(row.no_bid_dollars ?? '') + cents(row.yes_ask_dollars ?? '')).toBe(10_000n);
        expect('settlement_ts' in row).toBe(market.status === 'finalized');
        expect('settlement_value_dollars' in row).toBe(['determined', 'finalized'].includes(market.status));
      }
    });

    it('quotes 0 and 1 on a market that has closed but keeps its last price', async () => {
      const { ticker, lastPrice } = first((market) => market.status === 'closed');
      const { market } = (await get(`/markets/${ticker}`)).body as unknown as { market: Row };
      expect(market).toMatchObject({
        yes_bid_dollars: '0.0000',
        yes_ask_dollars: '1.0000',
        yes_bid_size_fp: '0.00',
        last_price_dollars: lastPrice,
      });
    });

    it('pages to an empty cursor without loss or repeat', async () => {
      const live = sim.world.markets.filter((market) => !market.archived && !market.vanished);
      const rows = await pages('/markets?limit=7', 'markets');
      expect(rows.map((row) => row.ticker).toSorted()).toEqual(live.map((market) => market.ticker).toSorted());
    });

    it('takes combos off a page after it was cut, so that a page may be empty and not the last', async () => {
      const { body } = await get('/markets?limit=2&mve_filter=exclude');
      expect(body.markets).toEqual([]);
      expect(body.cursor).not.toBe('');
      const rows = await pages('/markets?limit=2&mve_filter=exclude', 'markets');
      expect(rows.some((row) => String(row.ticker).startsWith('KXMVE'))).toBe(false);
      expect(rows.length).toBeGreaterThan(30);
    });

    it('filters by other words than it answers', async () => {
      const words = { unopened: 'initialized', open: 'active', paused: 'inactive', settled: 'finalized' };
      for (const [word, status] of Object.entries(words)) {
        const rows = await pages(`/markets?status=${word}&limit=1000`, 'markets');
        expect(new Set(rows.map((row) => row.status))).toEqual(new Set([status]));
      }
      const closed = await pages('/markets?status=closed', 'markets');
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
      ['/markets?cursor=nonsense', 'invalid cursor'],
      ['/historical/markets?event_ticker=A&series_ticker=B', undefined],
    ])('refuses %s', async (path, details) => {
      const { status, body } = await get(path);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'bad_request', message: 'bad request', ...(details && { details }) });
    });

    it('drops unknown tickers from a list and answers 404 for a path', async () => {
      const { ticker } = first(isOpen);
      expect((await get(`/markets?tickers=${ticker},NOPE-1`)).body.markets?.map((row) => row.ticker)).toEqual([ticker]);
      expect(await get('/markets/NOPE-1')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    });

    it('does not find a renamed series’ old markets by the new name', async () => {
      expect(await pages('/historical/markets?series_ticker=KXBASERATE', 'markets')).toEqual([]);
      const old = first((market) => market.ticker.startsWith('BASERATE-'));
      const rows = await pages(`/historical/markets?event_ticker=${old.eventTicker}`, 'markets');
      expect(rows).toHaveLength(3);
      const { event } = (await get(`/events/${old.eventTicker}`)).body as unknown as { event: Row };
      expect(event.series_ticker).toBe('KXBASERATE');
    });
  });

  describe('order book', () => {
    it('has bids only, ascending, best last, and a depth that keeps the best', async () => {
      const { ticker, yesBid, yesAsk, yesAskSize } = first((market) => isOpen(market) && market.yesAsk !== null);
      const read = async (depth: number): Promise<{ yes_dollars: string[][]; no_dollars: string[][] }> =>
        (await get(`/markets/${ticker}/orderbook?depth=${depth}`)).body.orderbook_fp as never;
      const whole = await read(0);
      for (const side of [whole.yes_dollars, whole.no_dollars]) {
        const prices = side.map(([price]) => cents(price as string));
        expect(prices).toEqual(prices.toSorted((a, b) => Number(a - b)));
      }
      expect(whole.yes_dollars.at(-1)?.[0]).toBe(yesBid);
      const [bestNo, size] = whole.no_dollars.at(-1) as [string, string];
      expect([10_000n - cents(bestNo), size]).toEqual([cents(yesAsk ?? ''), yesAskSize]);
      expect((await read(2)).yes_dollars).toEqual(whole.yes_dollars.slice(-2));
    });

    it('is empty, not absent, on a closed market; several books take repeated tickers', async () => {
      const closed = first((market) => market.status === 'closed').ticker;
      const open = first(isOpen).ticker;
      expect((await get(`/markets/${closed}/orderbook`)).body).toEqual({
        orderbook_fp: { yes_dollars: [], no_dollars: [] },
      });
      const many = await get(`/markets/orderbooks?tickers=${open}&tickers=NOPE&tickers=${closed}`);
      expect(many.body.orderbooks?.map((row) => row.ticker)).toEqual([open, closed]);
      expect((await get(`/markets/orderbooks?tickers=${open},${closed}`)).body.orderbooks).toEqual([]);
    });
  });

  describe('trades', () => {
    it('come newest first, live and historical without gap or overlap', async () => {
      const live = await pages('/markets/trades?limit=500', 'trades');
      const old = await pages('/historical/trades?limit=500', 'trades');
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
      const page1 = (await get('/markets/trades?limit=10')).body;
      sim.trade(25);
      const page2 = (await get(`/markets/trades?limit=10&cursor=${String(page1.cursor)}`)).body;
      expect([...(page1.trades ?? []), ...(page2.trades ?? [])].map((row) => row.trade_id)).toEqual(
        before.slice(0, 20),
      );
    });

    it('are cut by ticker, time and kind', async () => {
      const { ticker } = first((market) => isOpen(market) && market.lastPrice !== null);
      const since = nowS - 48 * HOUR_S;
      const rows = await pages(
        `/markets/trades?ticker=${ticker}&min_ts=${since}&max_ts=${nowS - HOUR_S}&limit=3`,
        'trades',
      );
      const wanted = sim.world
        .tradesOf(ticker)
        .filter((trade) => trade.timeUs >= since * 1e6 && trade.timeUs <= (nowS - HOUR_S) * 1e6);
      expect(rows.map((row) => row.trade_id)).toEqual(wanted.map((trade) => trade.tradeId).toReversed());
      const blocks = await pages('/markets/trades?is_block_trade=true', 'trades');
      expect(blocks.length).toBeGreaterThan(0);
      expect(blocks.every((row) => row.is_block_trade)).toBe(true);
    });
  });

  describe('candlesticks', () => {
    interface CandleRow {
      end_period_ts: number;
      price: Record<string, string>;
      yes_bid: Record<string, string>;
      volume_fp: string;
      open_interest_fp: string;
    }
    const read = async (ticker: string, minutes: number, hours: number): Promise<CandleRow[]> => {
      const { seriesTicker } = sim.world.market(ticker);
      const span = `start_ts=${nowS - hours * HOUR_S}&end_ts=${nowS}&period_interval=${minutes}`;
      const { body } = await get(`/series/${seriesTicker}/markets/${ticker}/candlesticks?${span}`);
      return body.candlesticks as unknown as CandleRow[];
    };

    it('say of each hour what its trades say, and name no price where none was printed', async () => {
      const { ticker } = first((market) => isOpen(market) && market.lastPrice !== null && market.openMs > monthAgo);
      const trades = sim.world.tradesOf(ticker);
      const rows = await read(ticker, 60, 24 * 25);
      let silent = 0;
      for (const row of rows) {
        const inside = trades.filter(
          (trade) => trade.timeUs > (row.end_period_ts - HOUR_S) * 1e6 && trade.timeUs <= row.end_period_ts * 1e6,
        );
        const prices = inside.filter((trade) => !trade.isBlockTrade).map((trade) => trade.yesPrice);
        expect(cents(row.volume_fp)).toBe(sum(inside));
        expect(row.price.open_dollars).toBe(prices[0]);
        expect(row.price.close_dollars).toBe(prices.at(-1));
        expect(row.price.high_dollars).toBe(prices.toSorted().at(-1));
        expect(Object.keys(row.yes_bid)).toEqual(['open_dollars', 'low_dollars', 'high_dollars', 'close_dollars']);
        if (inside.length === 0) silent += 1;
      }
      expect(silent).toBeGreaterThan(0);
      const steps = new Set(rows.slice(1).map((row, at) => row.end_period_ts - (rows[at]?.end_period_ts ?? 0)));
      expect(steps.size).toBeGreaterThan(1);
      expect(rows.find((row) => row.price.open_dollars)?.price).not.toHaveProperty('previous_dollars');
    });

    it('end days at midnight US Eastern: 23, 24 or 25 hours', async () => {
      const { ticker } = first((market) => isOpen(market) && market.openMs < Date.parse('2026-10-31T00:00:00Z'));
      const ends = (await read(ticker, 1440, 24 * 30)).map((row) => new Date(row.end_period_ts * 1000).toISOString());
      expect(ends).toContain('2026-11-01T04:00:00.000Z');
      expect(ends).toContain('2026-11-02T05:00:00.000Z');
    });

    it('come for many markets at once, within a total', async () => {
      const open = sim.world.markets.filter(isOpen).slice(0, 3);
      const tickers = open.map((market) => market.ticker).join(',');
      const span = (minutes: number): string => `start_ts=${nowS - minutes * 60}&end_ts=${nowS}&period_interval=1`;
      const { body } = await get(`/markets/candlesticks?market_tickers=${tickers},NOPE&${span(60)}`);
      expect(body.markets?.map((row) => row.market_ticker)).toEqual(open.map((market) => market.ticker));
      expect((await get(`/markets/candlesticks?market_tickers=${tickers}&${span(4000)}`)).status).toBe(400);
      const { eventTicker, seriesTicker } = first(isOpen);
      const whole = await get(`/series/${seriesTicker}/events/${eventTicker}/candlesticks?${span(4000)}`);
      expect(whole.body.market_tickers).toHaveLength(whole.body.market_candlesticks?.length ?? -1);
      expect(Number(whole.body.adjusted_end_ts)).toBeLessThan(nowS);
    });

    it('name no suffix and send nulls in the historical tier', async () => {
      const { ticker, closeMs } = first((market) => market.archived);
      const endTs = Math.ceil(closeMs / 3_600_000) * HOUR_S;
      const { body } = await get(
        `/historical/markets/${ticker}/candlesticks?start_ts=${endTs - 900 * HOUR_S}&end_ts=${endTs}&period_interval=60`,
      );
      const rows = body.candlesticks as unknown as { price: Record<string, string | null>; volume: string }[];
      expect(rows.some((row) => row.price.open === null && row.price.mean === null)).toBe(true);
      expect(rows.reduce((total, row) => total + cents(row.volume), 0n)).toBe(sum(sim.world.tradesOf(ticker)));
    });
  });

  describe('events and series', () => {
    it('nest markets or list them beside, and print a zero time in the single reply only', async () => {
      const { eventTicker } = first(isOpen);
      const plain = (await get(`/events/${eventTicker}`)).body as unknown as { event: Row; markets: Row[] };
      const nested = (await get(`/events/${eventTicker}?with_nested_markets=true`)).body as unknown as typeof plain;
      expect(plain.event.last_updated_ts).toBe('0001-01-01T00:00:00Z');
      expect(nested.markets).toEqual([]);
      expect(nested.event.markets).toEqual(plain.markets);
      const listed = await pages('/events?with_nested_markets=true&limit=5', 'events');
      expect(listed.find((event) => event.event_ticker === eventTicker)?.last_updated_ts).not.toMatch(/^0001/);
    });

    it('keep archived events without their markets, and combos elsewhere', async () => {
      const { eventTicker } = first((market) => market.archived);
      const listed = await pages('/events?with_nested_markets=true', 'events');
      expect(listed.find((event) => event.event_ticker === eventTicker)?.markets).toEqual([]);
      expect(listed.some((event) => String(event.event_ticker).startsWith('KXMVE'))).toBe(false);
      const combos = await pages('/events/multivariate?with_nested_markets=true', 'events');
      expect(combos.length).toBe(sim.world.events.filter((event) => event.combo).length);
    });

    it('come as one list of series with null tags and sources among them', async () => {
      const { series } = (await get('/series')).body;
      expect(series?.length).toBe(sim.world.series.length);
      expect(series?.some((row) => row.tags === null && row.settlement_sources === null)).toBe(true);
      const events = await pages('/events?limit=200', 'events');
      expect(events.some((event) => event.settlement_sources === null)).toBe(true);
      expect(events.some((event) => Number(event.fee_multiplier_override) === 2)).toBe(true);
    });
  });

  it('answers 404 live for what moved behind the cutoff, and finds it in the archive', async () => {
    const settled = first((market) => market.status === 'finalized' && !market.archived && !market.combo);
    expect((await get(`/markets/${settled.ticker}`)).status).toBe(200);
    const cutoff = (await get('/historical/cutoff')).body;
    sim.world.moveCutoff(NOW - 3_600_000);
    expect((await get('/historical/cutoff')).body.market_settled_ts).toBe('2026-11-21T11:00:00Z');
    expect((await get(`/markets/${settled.ticker}`)).status).toBe(404);
    expect((await get(`/historical/markets/${settled.ticker}`)).status).toBe(200);
    expect((await get(`/markets/trades?ticker=${settled.ticker}`)).body).toEqual({ trades: [], cursor: '' });
    sim.world.moveCutoff(Date.parse(String(cutoff.trades_created_ts)));
    expect((await get(`/markets/${settled.ticker}`)).status).toBe(200);
  });

  describe('social', () => {
    it('shows a public trader as maker or taker of public trades, and holdings that follow from them', async () => {
      const [nickname] = sim.world.nicknames('public') as [string];
      const mine = sim.world.trades.filter((trade) => trade.maker === nickname || trade.taker === nickname);
      const rows: Row[] = [];
      for (let cursor = ''; rows.length === 0 || cursor;) {
        const { body } = await social(`/social/trades?nickname=${nickname}&page_size=200&cursor=${cursor}`);
        rows.push(...(body.trades ?? []));
        cursor = String(body.cursor);
      }
      expect(rows.map((row) => row.trade_id)).toEqual(mine.map((trade) => trade.tradeId).toReversed());
      expect(rows.some((row) => row.taker_nickname === '' || row.maker_nickname === '')).toBe(true);

      const { body } = await social(`/social/profile/holdings?nickname=${nickname}&limit=200`);
      for (const held of (body.holdings as unknown as { market_holdings: Row[] }[]).flatMap(
        (row) => row.market_holdings,
      )) {
        const position = mine
          .filter((trade) => trade.ticker === held.market_ticker)
          .reduce((total, { taker, takerSide, count }) => {
            const bought = (taker === nickname) === (takerSide === 'yes');
            return total + (bought ? cents(count) : -cents(count));
          }, 0n);
        expect(Number(position) / 100).toBe(held.signed_open_position);
      }
      const { metrics } = (await social(`/social/profile/metrics?nickname=${nickname}`)).body as unknown as {
        metrics: Row;
      };
      expect(cents(metrics.volume_fp ?? '')).toBe(sum(mine));
    });

    it('answers 200 without rows for a hidden profile and 404 for an unknown name', async () => {
      const [hidden] = sim.world.nicknames('hidden') as [string];
      expect(await social(`/social/trades?nickname=${hidden}`)).toEqual({
        status: 200,
        body: { trades: [], cursor: '', visibility_state: 'hidden' },
      });
      expect((await social(`/social/profile/holdings?nickname=${hidden}`)).body.visibility_state).toBe('hidden');
      expect((await social('/social/profile?nickname=nobody-here')).status).toBe(404);
    });
  });
});
