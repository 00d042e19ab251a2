import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, withTimeout } from '../core/time.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { AttemptReport } from '../platforms/http/client.ts';
import { budgetKind } from '../platforms/http/limit-groups.ts';
import type { BadRow } from '../platforms/contract.ts';
import type { SocketObserver } from '../platforms/sockets/contract.ts';
import type { FinishedRun, Platform } from '../core/model.ts';
import type { Shared } from '../stores/shared/shared.ts';
import type { IngestionHealth } from './ingestion-health.ts';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Metrics for operators, in Prometheus's terms. Labels have few values: routes and query names, never ids. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name: `forecastle_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name: `forecastle_${name}`, help, labelNames, registers });
  const seconds = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Histogram({ name: `forecastle_${name}`, help, labelNames, buckets: SECONDS, registers });
  return {
    registry,
    httpSeconds: seconds('http_request_seconds', 'Requests served, by route', ['method', 'route', 'status']),
    cache: counter('cache_requests_total', 'Lookups in the response cache', ['kind', 'result']),
    platformSeconds: seconds('platform_request_seconds', 'Requests to a platform, per attempt', [
      'platform',
      'group',
      'status',
      'outcome',
    ]),
    budgetTokens: counter('platform_budget_tokens_total', 'Tokens taken from a request budget', ['budget']),
    budgetRefill: gauge('platform_budget_refill_per_second', 'Tokens per second of a request budget', ['budget']),
    budgetRefused: counter('platform_budget_refused_total', 'Requests refused because their budget was full', [
      'budget',
    ]),
    waiting: gauge('platform_waiting_requests', 'Requests waiting for their budget', ['budget']),
    clockSkew: gauge('platform_clock_skew_seconds', "This server's clock minus a platform's", ['platform']),
    badRows: counter('platform_bad_rows_total', 'Rows of a platform skipped while answering a caller', ['platform']),
    badFields: counter('platform_bad_fields_total', 'Fields left out of rows while answering a caller', ['platform']),
    stalePages: counter('platform_stale_pages_total', "Stale pages served by a platform's CDN", ['platform', 'route']),
    socketMessages: counter('socket_messages_total', "Messages of platforms' sockets", ['platform', 'channel']),
    socketBadFrames: counter('socket_bad_frames_total', 'Invalid frames received from sockets', [
      'platform',
      'channel',
    ]),
    socketDelay: seconds('socket_delay_seconds', 'From when a platform sent a message to its receipt', [
      'platform',
      'channel',
    ]),
    socketReconnects: counter('socket_reconnects_total', 'Socket connections lost or replaced', [
      'platform',
      'channel',
    ]),
    runs: counter('ingestion_runs_total', 'Finished runs of ingestion jobs', ['platform', 'job', 'ok']),
    runSeconds: seconds('ingestion_run_seconds', 'Duration of runs', ['platform', 'job']),
    rows: counter('ingestion_rows_total', 'Rows stored by ingestion jobs', ['platform', 'job']),
    skipped: counter('ingestion_bad_rows_total', 'Rows of a platform skipped by ingestion jobs', ['platform', 'job']),
    badRunFields: counter('ingestion_bad_fields_total', 'Fields left out of rows by ingestion jobs', [
      'platform',
      'job',
    ]),
    freshTo: gauge('ingestion_fresh_timestamp_seconds', 'Time up to which the data of a job is complete', [
      'platform',
      'job',
    ]),
    lag: gauge('ingestion_lag_seconds', 'How far stored data is behind a platform', ['platform']),
    feed: gauge('ingestion_feed', '1 for the current feed state of a platform: live, polling or stale', [
      'platform',
      'state',
    ]),
    storeSeconds: seconds('store_seconds', 'ClickHouse calls, by query or table', ['call', 'outcome']),
    storeUp: gauge('store_up', '1 while the store responds', ['store']),
  };
}

/** Counts an attempt of src/platforms/http/client.ts. */
export function observeAttempt(metrics: Metrics, { platform, group, status, outcome, ms }: AttemptReport): void {
  metrics.platformSeconds.observe({ platform, group, status: String(status), outcome }, ms / 1000);
}

export const observeBadRow = (metrics: Metrics, { platform, field }: BadRow): void =>
  (field === undefined ? metrics.badRows : metrics.badFields).inc({ platform });

/** Counts events of sockets. */
export const observeSockets = (metrics: Metrics): SocketObserver => ({
  messages: (platform, channel, count) => metrics.socketMessages.inc({ platform, channel }, count),
  badFrame: (platform, channel) => metrics.socketBadFrames.inc({ platform, channel }),
  delay: (platform, channel, seconds) => metrics.socketDelay.observe({ platform, channel }, seconds),
  reconnect: (platform, channel) => metrics.socketReconnects.inc({ platform, channel }),
});

/** The store with timed calls. */
export function meteredClickHouse(clickhouse: ClickHouse, metrics: Metrics): ClickHouse {
  const timed = async <T>(call: string, work: Promise<T>): Promise<T> => {
    const end = metrics.storeSeconds.startTimer({ call });
    try {
      const result = await work;
      end({ outcome: 'ok' });
      return result;
    } catch (error) {
      end({ outcome: 'failed' });
      throw error;
    }
  };
  return {
    ...clickhouse,
    query: (name, row, params, options) => timed(name, clickhouse.query(name, row, params, options)),
    rowBinary: (name, params, options) => timed(name, clickhouse.rowBinary(name, params, options)),
    run: (name, params) => timed(name, clickhouse.run(name, params)),
    stream: (name, params, format, options) => timed(name, clickhouse.stream(name, params, format, options)),
    insert: (table, rows, options) => {
      const [name = ''] = table.split(/[ (]/, 1);
      return timed(`insert ${name}`, clickhouse.insert(table, rows, options));
    },
  };
}

export function observeRun(metrics: Metrics, run: FinishedRun): void {
  const { platform, job } = run;
  metrics.runs.inc({ platform, job, ok: String(run.ok) });
  metrics.runSeconds.observe({ platform, job }, run.seconds);
  metrics.rows.inc({ platform, job }, run.rows);
  metrics.skipped.inc({ platform, job }, run.badRows);
  metrics.badRunFields.inc({ platform, job }, run.badFields);
  if (run.ok && run.freshTo !== null) metrics.freshTo.set({ platform, job }, run.freshTo.getTime() / 1000);
}

/** Shared state with counted cache and budgets. The kind of a cached value is the prefix of its key. */
export function meteredShared(shared: Shared, metrics: Metrics): Shared {
  const count = (key: string, result: 'hit' | 'miss'): void =>
    metrics.cache.inc({ kind: key.split(':', 1)[0] ?? '', result });
  return {
    ...shared,
    async cached(key, ttlMs, load) {
      const answer = await shared.cached(key, ttlMs, load);
      count(key, answer.hit ? 'hit' : 'miss');
      return answer;
    },
    localCache: {
      ...shared.localCache,
      get<T extends object>(key: string): T | undefined {
        const value = shared.localCache.get<T>(key);
        if (value) count(key, 'hit');
        return value;
      },
    },
    async takeBudget(budget, cost, maxWaitMs) {
      const wait = await shared.takeBudget(budget, cost, maxWaitMs);
      const kind = { budget: budgetKind(budget.name) };
      metrics.budgetRefill.set(kind, budget.refillPerSecond);
      if (wait === null) metrics.budgetRefused.inc(kind);
      else metrics.budgetTokens.inc(kind, cost);
      return wait;
    },
  };
}

/** Read at each scrape, in addition to the counters. */
export interface Watched {
  clock: Clock;
  /** Requests waiting for their budget, by budget. */
  queues(): { budget: string; waiting: number }[];
  /** This server's clock minus each platform's. */
  skewsMs?(): [Platform, number][];
  /** Asks each store whether it responds. */
  stores(): Record<string, Promise<boolean>>;
  ingestionHealth(): Promise<IngestionHealth[]>;
}

/** The metrics of a process, and the text of a scrape. */
export interface Watch {
  metrics: Metrics;
  scrape(): Promise<string>;
}

/** A scrape never fails and never waits long: a store that is late is down, and what else cannot be read is left out. */
export function watch(metrics: Metrics, { clock, queues, skewsMs, stores, ingestionHealth }: Watched): Watch {
  return {
    metrics,
    async scrape() {
      metrics.waiting.reset();
      for (const { budget, waiting } of queues()) metrics.waiting.inc({ budget: budgetKind(budget) }, waiting);
      for (const [platform, ms] of skewsMs?.() ?? []) metrics.clockSkew.set({ platform }, ms / 1000);
      metrics.lag.reset();
      metrics.feed.reset();
      const probes = Object.entries(stores()).map(async ([store, answer]) =>
        metrics.storeUp.set({ store }, (await withTimeout(clock, answer, false)) ? 1 : 0),
      );
      const [health] = await Promise.all([withTimeout(clock, ingestionHealth(), []), ...probes]);
      for (const { platform, lagSeconds, feed } of health) {
        if (lagSeconds !== null) metrics.lag.set({ platform }, lagSeconds);
        metrics.feed.set({ platform, state: feed }, 1);
      }
      return metrics.registry.metrics();
    },
  };
}
