import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { createLocalShared } from '../../../src/stores/shared/local.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { JobRunner } from '../../../ingest/job-runner.ts';
import { createLog } from '../../../src/core/log.ts';
import { createMetrics, observeRun, watch } from '../../../src/observability/metrics.ts';
import { mayReadMetrics } from '../../../src/observability/access.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { rowsOf, startWholeService, type WholeService } from '../../helpers/whole-service.ts';

/** Values by name and labels, `name{a="b"}` as in the text format. */
const parse = (text: string) =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );

const sum = (values: Map<string, number>, name: string, ...labels: string[]) =>
  [...values]
    .filter(([key]) => key.startsWith(`${name}{`) && labels.every((label) => key.includes(label)))
    .reduce((total, [, value]) => total + value, 0);

describe('GET /metrics of a whole service', () => {
  let whole: WholeService;
  let text: string;
  let metrics: Map<string, number>;
  let limit = 5;

  beforeAll(async () => {
    whole = await startWholeService({ PLATFORMS: 'kalshi' });
    // Lag is known once listings and trades of a platform were complete.
    const complete = "job IN ('markets', 'trades') AND ok AND fresh_to > now() - 300";
    const done = `SELECT uniqExact(platform, job) AS n FROM v_ingestion WHERE ${complete}`;
    await rowsOf(whole, `SELECT 1 FROM (${done}) WHERE n = 2`);
    for (let i = 0; i < 3; i += 1) await whole.get(`/v1/api/markets?provider=kalshi&limit=${limit}`);
    await whole.get('/v1/api/markets/id/no-such-market?provider=kalshi');
    await whole.get('/v1/api/nowhere/at-all');
    const reply = await whole.get('/metrics');
    expect(reply.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    text = await reply.text();
    metrics = parse(text);
  });

  afterAll(async () => {
    await whole.close();
  });

  it('counts requests by the pattern of their route and their status', () => {
    const count = 'forecastle_http_request_seconds_count';
    expect(sum(metrics, count, 'route="/v1/api/markets"', 'status="200"')).toBe(3);
    expect(sum(metrics, count, 'route="/v1/api/markets/id/:id"', 'status="404"')).toBe(1);
    expect(sum(metrics, count, 'route="none"', 'status="404"')).toBe(1);
    expect([...metrics.keys()].join('\n')).not.toMatch(/no-such-market|at-all/);
  });

  /** Hits and misses of lists so far. */
  const fromCache = async () => {
    const now = parse(await (await whole.get('/metrics')).text());
    return ['hit', 'miss'].map((result) =>
      sum(now, 'forecastle_cache_requests_total', 'kind="listMarkets"', `result="${result}"`),
    );
  };

  it('counts answers from the cache', async () => {
    const [hits = 0, misses = 0] = await fromCache();
    // Another list each time that this is tried: the last one's answer may live yet.
    limit += 1;
    for (let i = 0; i < 3; i += 1) await whole.get(`/v1/api/markets?provider=kalshi&limit=${limit}`);
    expect(await fromCache()).toEqual([hits + 2, misses + 1]);
  });

  it('counts what was sent to each platform and what its budgets allow', () => {
    const sent = [...whole.simulators[0].requests.values()].reduce((a, b) => a + b, 0);
    const counted = sum(metrics, 'forecastle_platform_request_seconds_count', 'platform="kalshi"');
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(sent);
    const budget = 'budget="kalshi:anonymous/live"';
    expect(sum(metrics, 'forecastle_platform_budget_tokens_total', budget)).toBeGreaterThan(0);
    expect(metrics.get(`forecastle_platform_budget_refill_per_second{${budget}}`)).toBe(50);
    expect([...metrics.keys()].some((key) => key.startsWith('forecastle_platform_waiting_requests{'))).toBe(true);
  });

  it('reports what ingestion stored, skipped and how far it is behind', async () => {
    const rows = sum(metrics, 'forecastle_ingestion_rows_total', 'job="trades"');
    const recorded = "SELECT sum(rows) AS n FROM v_ingestion WHERE job = 'trades'";
    expect(rows).toBeGreaterThan(0);
    // Runs are recorded every ten seconds.
    const stored = async (): Promise<number> => Number((await whole.sql<{ n: string }>(recorded))[0]?.n);
    await expect.poll(stored, { timeout: 30_000 }).toBeGreaterThanOrEqual(rows);
    expect(sum(metrics, 'forecastle_ingestion_runs_total', 'ok="true"')).toBeGreaterThan(0);
    expect(metrics.get('forecastle_ingestion_lag_seconds{platform="kalshi"}')).toBeLessThan(120);
    // Its socket requires a key.
    expect(metrics.get('forecastle_ingestion_feed{platform="kalshi",state="polling"}')).toBe(1);
    const own = [...metrics.keys()].filter((key) => key.startsWith('forecastle_ingestion_feed{'));
    expect(own.map((key) => metrics.get(key))).toEqual([1]);
    // A counter that counted nothing has its type alone.
    expect(text).toContain('# TYPE forecastle_ingestion_bad_rows_total counter');
    expect(sum(metrics, 'forecastle_ingestion_bad_rows_total')).toBe(0);
    expect(sum(metrics, 'forecastle_ingestion_fresh_timestamp_seconds', 'job="trades"')).toBeGreaterThan(1e9);
  });

  it('times the store and says which stores answer', () => {
    expect(sum(metrics, 'forecastle_store_seconds_count', 'call="insert trades"', 'outcome="ok"')).toBeGreaterThan(0);
    for (const store of ['clickhouse', 'postgres', 'redis'])
      expect(metrics.get(`forecastle_store_up{store="${store}"}`)).toBe(1);
    expect(metrics.get('nodejs_eventloop_lag_seconds')).toBeDefined();
  });
});

describe('who may read metrics', () => {
  it('is whoever sends the token; without one, this machine only and nobody behind a proxy', () => {
    const token = 'a token of sixteen';
    expect(mayReadMetrics(token, '10.0.0.1', { authorization: `Bearer ${token}` })).toBe(true);
    expect(mayReadMetrics(token, '127.0.0.1', {})).toBe(false);
    expect(mayReadMetrics(token, '127.0.0.1', { authorization: 'Bearer a token of sixteem' })).toBe(false);
    expect(mayReadMetrics(undefined, '127.0.0.1', {})).toBe(true);
    expect(mayReadMetrics(undefined, '::1', {})).toBe(true);
    expect(mayReadMetrics(undefined, '10.0.0.1', {})).toBe(false);
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-proto', 'true-client-ip'])
      expect(mayReadMetrics(undefined, '127.0.0.1', { [name]: '10.0.0.1' }), name).toBe(false);
    expect(mayReadMetrics(undefined, '127.0.0.1', { accept: '*/*', 'user-agent': 'Prometheus' })).toBe(true);
  });

  it('is nobody where METRICS is off', async () => {
    const off: TestApp = await startTestApp();
    const reply = await off.app.inject({ url: '/metrics' });
    expect(reply.statusCode).toBe(404);
    await off.close();
  });
});

describe('an ingesting process without an API', () => {
  it('answers on METRICS_PORT', async () => {
    const whole = await startWholeService(
      { PLATFORMS: 'kalshi', METRICS_PORT: '0', METRICS_TOKEN: 'a token of sixteen' },
      'ingest',
    );
    expect(whole.service.metricsUrl).toMatch(/^http:/);
    expect((await fetch(whole.service.metricsUrl)).status).toBe(401);
    const reply = await fetch(whole.service.metricsUrl, { headers: { authorization: 'Bearer a token of sixteen' } });
    expect(await reply.text()).toContain('forecastle_ingestion_runs_total');
    expect((await fetch(new URL('/', whole.service.metricsUrl))).status).toBe(200);
    await whole.close();
  });
});

it('counts a run that failed because the store is away, which cannot be recorded', async () => {
  const metrics = createMetrics();
  const log = createLog({ LOG_LEVEL: 'silent' });
  const clickhouse = { insert: () => Promise.reject(new Error('away')) } as unknown as ClickHouse;
  const runner = new JobRunner({
    log,
    shared: createLocalShared(log, systemClock),
    clickhouse,
    onRun: (run) => observeRun(metrics, run),
    clock: systemClock,
  });
  const run = vi.fn(() => Promise.reject(new Error('away')));
  runner.start([{ platform: 'kalshi', name: 'trades', lease: 'trades', everySeconds: 3600, run }]);
  await expect
    .poll(() => metrics.registry.metrics())
    .toContain('forecastle_ingestion_runs_total{platform="kalshi",job="trades",ok="false"} 1');
  await runner.stop();
});

it('a scrape waits three seconds for a store, calls one that is late or fails down, and has the rest', async () => {
  vi.useFakeTimers();
  const never = new Promise<never>(() => {});
  const { scrape } = watch(createMetrics(), {
    clock: systemClock,
    queues: () => [{ budget: 'kalshi:anonymous/live', waiting: 2 }],
    stores: () => ({ clickhouse: never, postgres: Promise.reject(new Error('away')), redis: Promise.resolve(true) }),
    ingestionHealth: () => never,
  });
  const text = scrape();
  await vi.advanceTimersByTimeAsync(3000);
  vi.useRealTimers();
  const read = parse(await text);
  const up = ['clickhouse', 'postgres', 'redis'].map((store) => read.get(`forecastle_store_up{store="${store}"}`));
  expect(up).toEqual([0, 0, 1]);
  expect(sum(read, 'forecastle_platform_waiting_requests')).toBe(2);
});
