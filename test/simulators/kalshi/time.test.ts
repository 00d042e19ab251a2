import { createRequire } from 'node:module';
import { Configuration, MarketApi, OrdersApi } from 'kalshi-typescript';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, manualClock, type ManualClock, type WireClient } from '../lib/index.ts';
import { startKalshi, type KalshiOptions, type KalshiWorld } from '../kalshi.ts';
import type { Simulator } from '../simulator.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const MINUTE = 60_000;

let sim: Simulator<KalshiWorld>;
let clock: ManualClock;
let api: WireClient;

async function start(options: KalshiOptions = {}): Promise<KalshiWorld> {
  clock = manualClock(NOW);
  sim = await startKalshi({ clock, tradesPerMarket: 5, ...options });
  api = createClient(sim.env.KALSHI_API_URL ?? '');
  return sim.world;
}

const statusOf = async (ticker: string): Promise<string> =>
  ((await api.get(`/markets/${ticker}`)).body as unknown as { market: { status: string } }).market.status;

describe('time on a simulated Kalshi', () => {
  afterEach(() => sim.close());

  it('opens, closes, determines and pays out by the clock', async () => {
    const world = await start();
    const future = world.markets.find((market) => market.status === 'initialized');
    if (!future) throw new Error('no market of the future');
    clock.set(future.openMs);
    expect(await statusOf(future.ticker)).toBe('active');

    const ticker = world.createMarket('coin');
    const { closeMs } = world.market(ticker);
    clock.set(closeMs - 1);
    expect(await statusOf(ticker)).toBe('active');
    clock.set(closeMs);
    expect(await statusOf(ticker)).toBe('closed');
    clock.set(closeMs + 30_000);
    expect(await statusOf(ticker)).toBe('determined');
    clock.set(closeMs + 90_000);
    expect(await statusOf(ticker)).toBe('finalized');
    expect(world.market(ticker)).toMatchObject({ result: expect.stringMatching(/yes|no/), yesBid: null, yesAsk: null });
  });

  it('drops a provisional market without trades', async () => {
    const world = await start();
    const fleeting = world.markets.find((market) => market.provisional);
    if (!fleeting) throw new Error('no provisional market');
    expect((await api.get(`/markets/${fleeting.ticker}`)).status).toBe(200);
    clock.set(fleeting.closeMs);
    expect((await api.get(`/markets/${fleeting.ticker}`)).status).toBe(404);
  });

  it('moves a market at a test’s word: closed, open again, contested, settled', async () => {
    const world = await start();
    const ticker = world.createMarket('mention');
    world.close(ticker);
    expect(await statusOf(ticker)).toBe('closed');
    world.reopen(ticker, NOW + 60 * MINUTE);
    expect(await statusOf(ticker)).toBe('active');
    expect(world.market(ticker).yesBid).not.toBeNull();
    world.pause(ticker);
    expect(await statusOf(ticker)).toBe('inactive');
    world.settle(ticker, 'yes');
    expect(world.market(ticker)).toMatchObject({ status: 'finalized', result: 'yes', settlementValue: '1.0000' });
  });

  it('brings new markets and settles old ones while the crowd trades', async () => {
    const world = await start();
    const before = world.markets.length;
    for (let minute = 0; minute < 12; minute++) {
      clock.advance(MINUTE);
      sim.trade(5);
    }
    expect(world.markets.length).toBe(before + 12);
    const born = world.markets.slice(before);
    expect(born.some((market) => market.status === 'finalized')).toBe(true);
    expect(born.some((market) => market.status === 'active')).toBe(true);
  });

  it('trades on its own until it is closed', async () => {
    const world = await start({ clock: { now: () => Date.now() } });
    const before = world.exchange.tape.length;
    sim.startTrading(200);
    await expect.poll(() => world.exchange.tape.length).toBeGreaterThan(before + 20);
  });
});

describe('a simulated Kalshi under load and in trouble', () => {
  afterEach(() => sim.close());

  it('refuses beyond its token bucket with a bare 429 and counts it', async () => {
    await start({ readBucket: { capacity: 30, refillPerSecond: 0.001 } });
    const read = (): Promise<Response> => fetch(`${sim.env.KALSHI_API_URL}/markets?limit=1`);
    const statuses = [await read(), await read(), await read()].map((reply) => reply.status);
    expect(statuses).toEqual([200, 200, 200]);
    const refused = await read();
    expect([refused.status, await refused.text()]).toEqual([429, '{"error":"too many requests"}']);
    expect([...refused.headers.keys()].filter((name) => /rate|retry/.test(name))).toEqual([]);
    expect(sim.refused.count).toBe(1);
    sim.enforceLimits = false;
    expect((await read()).status).toBe(200);
    expect(sim.requests.get('GET /trade-api/v2/markets')).toBe(5);
  });

  it('bills a routed write on every shard and a named one on its own', async () => {
    const world = await start({
      clock: { now: () => Date.now() },
      writeBucket: { capacity: 20, refillPerSecond: 0.001 },
    });
    const { apiKeyId, privateKeyPem } = world.addAccount({ keyType: 'rsa' });
    const basePath = sim.env.KALSHI_API_URL ?? '';
    const orders = new OrdersApi(new Configuration({ apiKey: apiKeyId, privateKeyPem, basePath }));
    const create = async (exchangeIndex?: number): Promise<number> => {
      const ticker = world.createMarket(exchangeIndex === 2 ? 'coin' : 'rate');
      const reply = await orders.createOrderV2(
        {
          ticker,
          side: 'bid',
          price: '0.0100',
          count: '1.00',
          time_in_force: 'good_till_canceled',
          self_trade_prevention_type: 'taker_at_cross',
          ...(exchangeIndex === undefined ? {} : { exchange_index: exchangeIndex }),
        },
        { validateStatus: () => true },
      );
      return reply.status;
    };
    expect([await create(2), await create(2), await create(2)]).toEqual([201, 201, 429]);
    expect([await create(), await create(0), await create(0), await create(0)]).toEqual([429, 201, 201, 429]);
  });

  it('serves the official SDK', async () => {
    await start();
    // A client of its own: those that the SDK shares sign with whatever key was used first.
    const axios = createRequire(import.meta.url)('axios') as { create(): ConstructorParameters<typeof MarketApi>[2] };
    const configuration = new Configuration({ basePath: sim.env.KALSHI_API_URL ?? '' });
    const markets = new MarketApi(configuration, undefined, axios.create());
    const { data } = await markets.getMarkets(5, undefined, undefined, undefined);
    expect(data.markets).toHaveLength(5);
  });

  it('answers 503 to everything while it is down, the status with its own body', async () => {
    const world = await start();
    world.setExchange({ down: true, resumeMs: NOW + 30 * MINUTE });
    expect(await api.get('/markets?limit=1')).toMatchObject({
      status: 503,
      body: { error: { code: 'service_unavailable' } },
    });
    expect(await api.get('/exchange/status')).toMatchObject({
      status: 503,
      body: { exchange_active: false, exchange_estimated_resume_time: '2026-11-21T12:30:00Z' },
    });
    world.setExchange({ down: false, resumeMs: null, tradingActive: false });
    const { status, body } = await api.get('/exchange/status');
    expect([status, body.exchange_active, body.trading_active]).toEqual([200, true, false]);
    expect(body).not.toHaveProperty('exchange_estimated_resume_time');
  });

  it('fails as configured, as often as configured: status, reset, cut, slow, after', async () => {
    const world = await start();
    const url = `${sim.env.KALSHI_API_URL}/markets?limit=1`;
    sim.inject({ match: /markets\?limit=1$/, times: 2, kind: 'status', status: 502, body: '<html>', headers: {} });
    expect([(await fetch(url)).status, (await fetch(url)).status, (await fetch(url)).status]).toEqual([502, 502, 200]);
    for (const kind of ['reset', 'cut', 'after'] as const) {
      sim.inject({ match: /markets/, times: 1, kind });
      await expect(fetch(url).then((reply) => reply.text())).rejects.toThrow(/fetch failed|terminated/);
    }
    sim.inject({ match: /markets/, times: 1, kind: 'slow', delayMs: 50 });
    const from = performance.now();
    expect((await fetch(url)).status).toBe(200);
    expect(performance.now() - from).toBeGreaterThanOrEqual(45);
    sim.inject({ match: /markets/, times: 5, kind: 'hang' });
    await expect(fetch(url, { signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout/);
    sim.clearFaults();
    expect((await fetch(url)).status).toBe(200);
    expect(world.markets.length).toBe(60);
  });
});
