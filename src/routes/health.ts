import type { IngestionHealth, LastJobRun } from '../observability/ingestion-health.ts';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { Services } from './services.ts';
import { endpoint } from '../http/endpoint.ts';
import { platformName, skewText } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import { SingleFlight } from '../core/single-flight.ts';
import { PROBE_MS, withTimeout } from '../core/time.ts';
import type { SocketStatus } from '../platforms/sockets/contract.ts';
import { HealthAnswer } from '../schemas/health.ts';
import { storedFigures, type StoredFigures } from '../queries/stored-figures.ts';

type Check = z.output<typeof HealthAnswer>['checks'][number];

type SocketFields = Omit<SocketStatus, 'platform' | 'isLive'>;

const NO_SOCKET: SocketFields = {
  connected: false,
  reason: 'no sockets are followed',
  subscriptions: 0,
  lastMessageAt: null,
  reconnects: 0,
};

/** GET /v1/api/health: 200 while the service can answer, even from old data; 503 if a store is down. */
export function healthRoutes(app: FastifyInstance, services: Services): void {
  const { clock, clickhouse, postgres, shared, config, ingestionHealth, skewMs = () => 0 } = services;
  const startedAt = clock.elapsed();
  // Calls are not limited, so those at the same time share one reading.
  const readings = new SingleFlight<'all'>();
  const read = () =>
    Promise.all([
      withTimeout(clock, clickhouse.ping(), false),
      withTimeout(clock, postgres.ping(), false),
      withTimeout(clock, ingestionHealth(), config.platforms.map(unread)),
      withTimeout(clock, storedFigures(clickhouse, shared), []),
    ]);
  endpoint(
    app,
    {
      method: 'GET',
      url: '/v1/api/health',
      auth: 'none',
      tag: 'Infrastructure',
      operation: 'getHealth',
      summary: 'State of the service, its stores and the freshness of its data',
      answer: HealthAnswer,
      statuses: [200, 503],
      limit: 'none',
    },
    async ({ reply }) => {
      const [stored, related, ingestion, figures] = await readings.run('all', read);
      const redis: Check[] = config.REDIS_URL ? [{ name: 'redis', status: shared.healthy() ? 'ok' : 'degraded' }] : [];
      const checks: Check[] = [
        { name: 'clickhouse', status: stored ? 'ok' : 'down' },
        { name: 'postgres', status: related ? 'ok' : 'down' },
        ...redis,
        ...ingestion.map((one) =>
          ingestionCheck(
            one,
            figures.find(({ platform }) => platform === one.platform),
          ),
        ),
        ...config.platforms.flatMap((platform) => clockCheck(platform, skewMs(platform))),
      ];
      const serving = stored && related;
      const well = checks.every((check) => check.status === 'ok');
      const status: Check['status'] = serving ? (well ? 'ok' : 'degraded') : 'down';
      reply.code(serving ? 200 : 503).header('cache-control', 'no-store');
      if (!serving) reply.header('retry-after', 5);
      return {
        status,
        checks,
        uptime_seconds: Math.floor((clock.elapsed() - startedAt) / 1000),
        version: config.version,
      };
    },
  );
}

/** Reported for a platform whose state could not be read: it may or may not be healthy. */
const unread = (platform: Platform): IngestionHealth => ({
  platform,
  status: 'degraded',
  lagSeconds: null,
  feed: 'stale',
  socket: { platform, isLive: false, ...NO_SOCKET, reason: 'its state could not be read' },
  detail: `its state could not be read within ${PROBE_MS / 1000} s`,
  leftOut: [],
  jobs: [],
});

const ingestionCheck = (
  { platform, status, lagSeconds, feed, socket, detail, leftOut, jobs }: IngestionHealth,
  stored: StoredFigures | undefined,
): Check => ({
  name: `ingestion ${platformName(platform)}`,
  status,
  platform,
  lag_seconds: lagSeconds,
  feed,
  socket: socketFields(socket ?? NO_SOCKET),
  ...(detail === '' ? {} : { detail }),
  ...(leftOut.length === 0 ? {} : { left_out: leftOut }),
  ...(jobs.length === 0 ? {} : { jobs: jobs.map(jobFields) }),
  ...(stored === undefined ? {} : { stored: storedFields(stored) }),
});

const jobFields = ({ name, ok, finishedMs, note }: LastJobRun) => ({
  name,
  status: ok ? ('ok' as const) : ('failed' as const),
  finished_at: new Date(finishedMs).toISOString(),
  note,
});

function storedFields({ markets, open_markets, trades, first_ms: first, last_ms: last }: StoredFigures) {
  const at = (ms: number): string | null => (trades === 0 ? null : new Date(ms).toISOString());
  return { markets, open_markets, trades, first_trade_at: at(first), last_trade_at: at(last) };
}

/** Only while the clocks differ. */
function clockCheck(platform: Platform, skewMs: number): Check[] {
  const detail = skewText(platform, skewMs);
  return detail === null ? [] : [{ name: `clock ${platformName(platform)}`, status: 'degraded', detail }];
}

const socketFields = ({ connected, reason, subscriptions, lastMessageAt, reconnects }: SocketFields) => ({
  connected,
  reason,
  subscriptions,
  last_message_at: lastMessageAt,
  reconnects,
});
