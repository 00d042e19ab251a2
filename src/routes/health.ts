import type { IngestionHealth } from '../observability/ingestion-health.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Services } from './services.ts';
import { endpoint } from '../http/endpoint.ts';
import { platformName } from '../core/errors.ts';
import { PLATFORMS } from '../core/model.ts';

const Status = z.enum(['ok', 'degraded', 'down']);
const HealthAnswer = z
  .object({
    status: Status.describe(
      'down: requests cannot be served; degraded: some data is old or a limit is held per process',
    ),
    checks: z
      .array(
        z.object({
          name: z.string().describe('clickhouse, postgres, redis, or ingestion of a platform'),
          status: Status.describe('ok, degraded or down'),
          platform: z.enum(PLATFORMS).optional().describe('With checks of ingestion'),
          lag_seconds: z
            .number()
            .nullable()
            .optional()
            .describe('With checks of ingestion: seconds that stored data is behind; null before the first sweep'),
          feed: z
            .enum(['live', 'polling', 'stale'])
            .optional()
            .describe(
              'With checks of ingestion: live where sockets start each reading, else polling; stale when the data is too old or none is stored yet',
            ),
          socket: z
            .object({
              connected: z.boolean().describe('Whether every connection is open'),
              subscriptions: z.int().describe('Number of connections that are open and subscribed'),
              last_message_at: z.iso.datetime().nullable().describe('ISO-8601; null before the first message'),
              reconnects: z.int().describe('Number of connections lost since the process began to follow the platform'),
            })
            .nullable()
            .optional()
            .describe("With checks of ingestion: the platform's sockets; null where none are followed"),
          detail: z.string().optional().describe('What is wrong'),
        }),
      )
      .describe('One per store and per platform'),
    uptime_seconds: z.int().describe('Seconds since this process started to serve'),
    version: z.string().describe('Of the service'),
  })
  .meta({ id: 'Health' });
type Check = z.output<typeof HealthAnswer>['checks'][number];

const CHECK_MS = 3000;

/** GET /v1/api/health: 200 while the service can serve, even from old data; 503 when a store is down. */
export function healthRoutes(app: FastifyInstance, services: Services): void {
  const { clickhouse, postgres, shared, config, ingestionHealth } = services;
  const startedAt = performance.now();
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
    },
    async ({ reply }) => {
      const [stored, related, ingestion] = await Promise.all([
        withTimeout(clickhouse.ping(), false),
        withTimeout(postgres.ping(), false),
        withTimeout(ingestionHealth(), []),
      ]);
      const redis: Check[] = config.REDIS_URL ? [{ name: 'redis', status: shared.healthy() ? 'ok' : 'degraded' }] : [];
      const checks: Check[] = [
        { name: 'clickhouse', status: stored ? 'ok' : 'down' },
        { name: 'postgres', status: related ? 'ok' : 'down' },
        ...redis,
        ...ingestion.map(ingestionCheck),
      ];
      const serving = stored && related;
      const well = checks.every((check) => check.status === 'ok');
      const status: Check['status'] = serving ? (well ? 'ok' : 'degraded') : 'down';
      reply.code(serving ? 200 : 503).header('cache-control', 'no-store');
      if (!serving) reply.header('retry-after', 5);
      return {
        status,
        checks,
        uptime_seconds: Math.floor((performance.now() - startedAt) / 1000),
        version: config.version,
      };
    },
  );
}

const ingestionCheck = ({ platform, status, lagSeconds, feed, socket, detail }: IngestionHealth): Check => ({
  name: `ingestion ${platformName(platform)}`,
  status,
  platform,
  lag_seconds: lagSeconds,
  feed,
  socket: socket && {
    connected: socket.connected,
    subscriptions: socket.subscriptions,
    last_message_at: socket.lastMessageAt,
    reconnects: socket.reconnects,
  },
  ...(detail === '' ? {} : { detail }),
});

/** The value, or `otherwise` when it fails or takes longer than a prober waits. */
async function withTimeout<T>(value: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(resolve, CHECK_MS, otherwise);
  });
  return Promise.race([value.catch(() => otherwise), late]).finally(() => clearTimeout(timer));
}
