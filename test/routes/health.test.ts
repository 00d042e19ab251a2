import { EventEmitter, once } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { PLATFORMS } from '../../src/core/model.ts';
import { systemClock } from '../../src/core/time.ts';
import { type IngestionHealth, ingestionHealth } from '../../src/observability/ingestion-health.ts';
import { market, startMarketStore, trade } from '../helpers/market-store.ts';
import { startTestApp, type TestApp, type TestAppOptions } from '../helpers/app.ts';
import { openOwnClickHouse } from '../helpers/own-clickhouse.ts';

const URL = '/v1/api/health';
let service: TestApp | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

async function health(options: TestAppOptions = {}) {
  service = await startTestApp(options);
  const answer = await service.app.inject(URL);
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}

const lagging: IngestionHealth = {
  platform: 'kalshi',
  status: 'degraded',
  lagSeconds: 900,
  feed: 'stale',
  socket: null,
  detail: 'maintenance',
  leftOut: [],
  jobs: [],
};

test('all well is 200 and ok, with uptime and version', async () => {
  const { status, body } = await health({
    ingestionHealth: async () => [{ ...lagging, status: 'ok', lagSeconds: 3, feed: 'polling', detail: '' }],
  });
  expect(status).toBe(200);
  expect(body.status).toBe('ok');
  expect(body.version).toBe(manifest.version);
  expect(body.uptime_seconds).toEqual(expect.any(Number));
  expect(body.checks.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['clickhouse', 'postgres', 'ingestion Kalshi']),
  );
});

test('old data is 200 and degraded: the service serves what it has', async () => {
  const { status, body } = await health({ ingestionHealth: async () => [lagging] });
  expect(status).toBe(200);
  expect(body.status).toBe('degraded');
  expect(body.checks.at(-1)).toEqual({
    name: 'ingestion Kalshi',
    status: 'degraded',
    platform: 'kalshi',
    lag_seconds: 900,
    feed: 'stale',
    socket: {
      connected: false,
      reason: 'no sockets are followed',
      subscriptions: 0,
      last_message_at: null,
      reconnects: 0,
    },
    detail: 'maintenance',
  });
});

test('calls at the same time share one reading of the stores and platforms', async () => {
  let readings = 0;
  let arrived = 0;
  const all = new EventEmitter();
  const reading = async () => {
    readings += 1;
    await once(all, 'arrived');
    return [lagging];
  };
  const extend = (app: FastifyInstance): void =>
    void app.addHook('preHandler', async () => {
      if ((arrived += 1) === 50) setImmediate(() => all.emit('arrived'));
    });
  service = await startTestApp({ ingestionHealth: reading, extend });
  const answers = await Promise.all(Array.from({ length: 50 }, () => service?.app.inject(URL)));
  expect(answers.every((answer) => answer?.json().checks.at(-1).lag_seconds === 900)).toBe(true);
  expect(readings).toBe(1);
});

test('an item that was left out is named, and the platform stays ok', async () => {
  const leftOut = ['changed: event 40111: /events/keyset: 500 (1 row)'];
  const { body } = await health({
    ingestionHealth: async () => [{ ...lagging, status: 'ok', lagSeconds: 3, detail: '', leftOut }],
  });
  expect(body.status).toBe('ok');
  expect(body.checks.at(-1)).toMatchObject({ name: 'ingestion Kalshi', status: 'ok', left_out: leftOut });
});

test('each platform says how its jobs ended, and how much of it is stored', async () => {
  const store = await startMarketStore();
  try {
    const open = market({ platform: 'kalshi', ref: 'KXOPEN-1' });
    await store.list(open, market({ platform: 'kalshi', ref: 'KXOVER-1', state: { status: 'settled' } }));
    await store.list(market({ platform: 'limitless', ref: 'untraded' }));
    const [first, last] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 2)];
    await store.trade(...[last, first].map((atMs) => trade({ of: open, atMs, price: '0.5', size: '2' })));
    const jobs = [
      { name: 'markets', ok: true, finishedMs: first, note: '' },
      { name: 'trades', ok: false, finishedMs: last, note: 'maintenance' },
    ];
    const { body } = await health({
      clickhouse: store.clickhouse,
      ingestionHealth: async () => [
        { ...lagging, jobs },
        { ...lagging, platform: 'limitless' },
      ],
    });
    const [kalshi, limitless] = body.checks.slice(-2);
    expect(kalshi.jobs).toEqual([
      { name: 'markets', status: 'ok', finished_at: '2026-11-01T00:00:00.000Z', note: '' },
      { name: 'trades', status: 'failed', finished_at: '2026-11-02T00:00:00.000Z', note: 'maintenance' },
    ]);
    expect(kalshi.stored).toEqual({
      markets: 2,
      open_markets: 1,
      trades: 2,
      first_trade_at: '2026-11-01T00:00:00.000Z',
      last_trade_at: '2026-11-02T00:00:00.000Z',
    });
    expect(limitless.jobs).toBeUndefined();
    expect(limitless.stored).toMatchObject({ markets: 1, trades: 0, first_trade_at: null, last_trade_at: null });
  } finally {
    await store.close();
  }
});

const ago = (hours: number): string => new Date(systemClock.now() - hours * 3_600_000).toISOString();
/** A run of some hours ago, up to when data was complete. */
function runOf(job: string, hours: number, ok: boolean, freshHours = hours) {
  const times = { started_at: ago(hours), finished_at: ago(hours), fresh_to: ago(freshHours) };
  return { platform: 'kalshi', job, ok, note: ok ? '' : 'unavailable', ...times };
}

test('a platform without an answer for days is as far behind as its data; only one that was never synced waits', async () => {
  const { clickhouse } = await openOwnClickHouse();
  onTestFinished(() => clickhouse.close());
  await clickhouse.insert('ingestion_runs', [
    ...['markets', 'changed', 'trades'].flatMap((job) => [runOf(job, 50, true), runOf(job, 1, false, 50)]),
    { ...runOf('markets', 60, true), platform: 'polymarket' },
  ]);
  const config = { platforms: [...PLATFORMS], TRADES_SECONDS: 15, SWEEP_SECONDS: 60 };
  const [kalshi, ...unsynced] = await ingestionHealth(clickhouse, config, { clock: systemClock });
  expect(Math.abs((kalshi?.lagSeconds ?? 0) - 50 * 3600)).toBeLessThan(60);
  expect(kalshi?.detail).toMatch(/^\d+ s behind; .*trades fails: unavailable/);
  expect(unsynced.map(({ lagSeconds, detail }) => [lagSeconds, detail])).toEqual(
    unsynced.map(() => [null, 'the first sync is not complete yet']),
  );
});

test.each([
  ['fails', () => Promise.reject(new Error('unreadable'))],
  ['takes too long', () => new Promise<IngestionHealth[]>(() => {})],
])('platforms are degraded, not left out, when reading their state %s', async (_, reading) => {
  const { status, body } = await health({ ingestionHealth: reading });
  expect([status, body.status]).toEqual([200, 'degraded']);
  const platforms = body.checks.filter((check: { platform?: string }) => check.platform !== undefined);
  expect(platforms.map((check: { platform: string }) => check.platform)).toEqual([...PLATFORMS]);
  expect(platforms[0]).toMatchObject({ status: 'degraded', lag_seconds: null, feed: 'stale' });
  expect(platforms[0].detail).toContain('could not be read');
});

const dead = (ping: () => Promise<boolean>): TestAppOptions => ({
  clickhouse: {
    ping,
    query: async () => [],
    rowBinary: () => {
      throw new Error('unused');
    },
    stream: () => {
      throw new Error('unused');
    },
    sql: async () => [],
    run: async () => {},
    command: async () => {},
    insert: async () => {},
    close: async () => {},
  },
});

describe('a store that is down', () => {
  test.each([
    ['says no', async () => false],
    ['throws', async () => Promise.reject(new Error('SELECT secret_column failed'))],
    ['never answers', async () => new Promise<boolean>(() => {})],
  ])('and %s is 503 with Retry-After, naming the check only', async (_, ping) => {
    const { status, headers, body } = await health(dead(ping));
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    expect(body.status).toBe('down');
    expect(body.checks[0]).toEqual({ name: 'clickhouse', status: 'down' });
    expect(JSON.stringify(body)).not.toContain('secret_column');
  });
});

test.each([
  [61_000, '61 s ahead of'],
  [-2600, '3 s behind'],
])('a clock that differs by %d ms from a platform is degraded, and says by how much', async (skewMs, words) => {
  const { status, body } = await health({ skewMs: (platform) => (platform === 'kalshi' ? skewMs : 1900) });
  expect([status, body.status]).toEqual([200, 'degraded']);
  expect(body.checks.filter(({ name }: { name: string }) => name.startsWith('clock'))).toEqual([
    {
      name: 'clock Kalshi',
      status: 'degraded',
      detail: `this server's clock is ${words} Kalshi's: set it`,
    },
  ]);
});
