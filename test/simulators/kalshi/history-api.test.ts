import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, manualClock, type WireClient, type WireRow } from '../lib/index.ts';
import { startKalshi, type KalshiWorld, type TrueMarket } from '../kalshi.ts';
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

const monthAgo = NOW - 24 * 86_400_000;
let social: WireClient;

describe('candles, events and people of a simulated Kalshi', () => {
  beforeAll(async () => {
    sim = await startKalshi({ seed: 7, clock: manualClock(NOW), markets: 66 });
    api = createClient(sim.env.KALSHI_API_URL ?? '');
    social = createClient(sim.env.KALSHI_SOCIAL_URL ?? '');
    sim.enforceLimits = false;
    sim.trade(200);
  });
  afterAll(() => sim.close());

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
      const { body } = await api.get(`/series/${seriesTicker}/markets/${ticker}/candlesticks?${span}`);
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
        const prices = inside.map((trade) => trade.yesPrice);
        expect(units(row.volume_fp)).toBe(sum(inside));
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
      const { body } = await api.get(`/markets/candlesticks?market_tickers=${tickers},NOPE&${span(60)}`);
      expect(body.markets?.map((row) => row.market_ticker)).toEqual(open.map((market) => market.ticker));
      expect((await api.get(`/markets/candlesticks?market_tickers=${tickers}&${span(4000)}`)).status).toBe(400);
      const { eventTicker, seriesTicker } = first(isOpen);
      const whole = await api.get(`/series/${seriesTicker}/events/${eventTicker}/candlesticks?${span(4000)}`);
      expect(whole.body.market_tickers).toHaveLength(whole.body.market_candlesticks?.length ?? -1);
      expect(Number(whole.body.adjusted_end_ts)).toBeLessThan(nowS);
    });

    it('name no suffix and send nulls in the historical tier', async () => {
      const { ticker, closeMs } = first((market) => market.archived);
      const endTs = Math.ceil(closeMs / 3_600_000) * HOUR_S;
      const { body } = await api.get(
        `/historical/markets/${ticker}/candlesticks?start_ts=${endTs - 900 * HOUR_S}&end_ts=${endTs}&period_interval=60`,
      );
      const rows = body.candlesticks as unknown as { price: Record<string, string | null>; volume: string }[];
      expect(rows.some((row) => row.price.open === null && row.price.mean === null)).toBe(true);
      expect(rows.reduce((total, row) => total + units(row.volume), 0n)).toBe(sum(sim.world.tradesOf(ticker)));
    });
  });

  describe('events and series', () => {
    it('nest markets or list them beside, and print a zero time in the single reply only', async () => {
      const { eventTicker } = first(isOpen);
      const plain = (await api.get(`/events/${eventTicker}`)).body as unknown as { event: WireRow; markets: WireRow[] };
      const nested = (await api.get(`/events/${eventTicker}?with_nested_markets=true`)).body as unknown as typeof plain;
      expect(plain.event.last_updated_ts).toBe('0001-01-01T00:00:00Z');
      expect(nested.markets).toEqual([]);
      expect(nested.event.markets).toEqual(plain.markets);
      const listed = await api.pages('/events?with_nested_markets=true&limit=5', 'events');
      expect(listed.find((event) => event.event_ticker === eventTicker)?.last_updated_ts).not.toMatch(/^0001/);
    });

    it('keep archived events without their markets, and combos elsewhere', async () => {
      const { eventTicker } = first((market) => market.archived);
      const listed = await api.pages('/events?with_nested_markets=true', 'events');
      expect(listed.find((event) => event.event_ticker === eventTicker)?.markets).toEqual([]);
      expect(listed.some((event) => String(event.event_ticker).startsWith('KXMVE'))).toBe(false);
      const combos = await api.pages('/events/multivariate?with_nested_markets=true', 'events');
      expect(combos.length).toBe(sim.world.events.filter((event) => event.combo).length);
    });

    it('come as one list of series with null tags and sources among them', async () => {
      const { series } = (await api.get('/series')).body;
      expect(series?.length).toBe(sim.world.series.length);
      expect(series?.some((row) => row.tags === null && row.settlement_sources === null)).toBe(true);
      const events = await api.pages('/events?limit=200', 'events');
      expect(events.some((event) => event.settlement_sources === null)).toBe(true);
      expect(events.some((event) => Number(event.fee_multiplier_override) === 2)).toBe(true);
    });
  });

  it('answers 404 live for what moved behind the cutoff, and finds it in the archive', async () => {
    const settled = first((market) => market.status === 'finalized' && !market.archived && !market.combo);
    expect((await api.get(`/markets/${settled.ticker}`)).status).toBe(200);
    const cutoff = (await api.get('/historical/cutoff')).body;
    sim.world.moveCutoff(NOW - 3_600_000);
    expect((await api.get('/historical/cutoff')).body.market_settled_ts).toBe('2026-11-21T11:00:00Z');
    expect((await api.get(`/markets/${settled.ticker}`)).status).toBe(404);
    expect((await api.get(`/historical/markets/${settled.ticker}`)).status).toBe(200);
    expect((await api.get(`/markets/trades?ticker=${settled.ticker}`)).body).toEqual({ trades: [], cursor: '' });
    sim.world.moveCutoff(Date.parse(String(cutoff.trades_created_ts)));
    expect((await api.get(`/markets/${settled.ticker}`)).status).toBe(200);
  });

  describe('social', () => {
    it('shows a public trader as maker or taker of public trades, and holdings that follow from them', async () => {
      const [nickname] = sim.world.nicknames('public') as [string];
      const mine = sim.world.trades.filter((trade) => trade.maker === nickname || trade.taker === nickname);
      const rows: WireRow[] = [];
      for (let cursor = ''; rows.length === 0 || cursor;) {
        const { body } = await social.get(`/social/trades?nickname=${nickname}&page_size=200&cursor=${cursor}`);
        rows.push(...(body.trades ?? []));
        cursor = String(body.cursor);
      }
      expect(rows.map((row) => row.trade_id)).toEqual(mine.map((trade) => trade.tradeId).toReversed());
      expect(rows.some((row) => row.taker_nickname === '' || row.maker_nickname === '')).toBe(true);

      const { body } = await social.get(`/social/profile/holdings?nickname=${nickname}&limit=200`);
      for (const held of (body.holdings as unknown as { market_holdings: WireRow[] }[]).flatMap(
        (row) => row.market_holdings,
      )) {
        const position = mine
          .filter((trade) => trade.ticker === held.market_ticker)
          .reduce((total, { taker, takerSide, count }) => {
            const bought = (taker === nickname) === (takerSide === 'yes');
            return total + (bought ? units(count) : -units(count));
          }, 0n);
        expect(Number(position) / 100).toBe(held.signed_open_position);
      }
      const { metrics } = (await social.get(`/social/profile/metrics?nickname=${nickname}`)).body as unknown as {
        metrics: WireRow;
      };
      expect(units(metrics.volume_fp)).toBe(sum(mine));
    });

    it('answers 200 without rows for a hidden profile and 404 for an unknown name', async () => {
      const [hidden] = sim.world.nicknames('hidden') as [string];
      expect(await social.get(`/social/trades?nickname=${hidden}`)).toEqual({
        status: 200,
        body: { trades: [], cursor: '', visibility_state: 'hidden' },
      });
      expect((await social.get(`/social/profile/holdings?nickname=${hidden}`)).body.visibility_state).toBe('hidden');
      expect((await social.get('/social/profile?nickname=nobody-here')).status).toBe(404);
    });
  });
});
