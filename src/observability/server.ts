import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenError } from '../core/config-error.ts';
import type { Watch } from './metrics.ts';
import { mayReadMetrics } from './access.ts';

/** GET /metrics of a process without an API; every other path answers 200 for health checks. */
export async function serveMetrics({ metrics, scrape }: Watch, host: string, port: number, token: string | undefined) {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (request.url !== '/metrics') response.end('ok\n');
    else if (!mayReadMetrics(token, request.socket.remoteAddress ?? '', request.headers)) response.writeHead(401).end();
    else
      void scrape().then(
        (text) => response.setHeader('content-type', metrics.registry.contentType).end(text),
        () => response.writeHead(500).end(),
      );
  });
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw listenError('METRICS_PORT', port, host, error);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
    },
  };
}
