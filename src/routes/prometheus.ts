import type { FastifyInstance } from 'fastify';
import type { Services } from './services.ts';
import { ApiError } from '../core/errors.ts';
import { mayReadMetrics } from '../observability/access.ts';

/** GET /metrics for Prometheus, and the timing of every request; nothing if METRICS is off. */
export function prometheusRoutes(app: FastifyInstance, { config, watch }: Services): void {
  if (!watch) return;
  const { metrics, scrape } = watch;
  app.addHook('onResponse', (request, reply, done) => {
    // The route pattern, never the path: callers could create any number of labels.
    const route = request.routeOptions.url ?? 'none';
    const labels = { method: request.method, route, status: String(reply.statusCode) };
    metrics.httpSeconds.observe(labels, reply.elapsedTime / 1000);
    done();
  });
  app.get('/metrics', { schema: { hide: true }, config: { limit: 'none' } }, async (request, reply) => {
    if (!mayReadMetrics(config.METRICS_TOKEN, request.ip, request.headers)) {
      throw new ApiError(401, 'Metrics require authorization', {
        resolution:
          'Send METRICS_TOKEN as a bearer token. Without METRICS_TOKEN only callers on this machine are answered.',
      });
    }
    return reply.type(metrics.registry.contentType).send(await scrape());
  });
}
