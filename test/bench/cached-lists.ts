import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import type { LoadOrder } from './load.ts';

const ROUNDS = 6;
const ROUND_MS = 1000;
const CONNECTIONS = 16;
const USERS = 300;
const LISTS = ['markets?provider=polymarket&limit=50', 'trades/whales?limit=50', 'analytics/trending?limit=20'];

/** A list from the cache: requests a second, and of a bare Fastify route that sends the same bytes. */
export interface CachedResult {
  endpoint: string;
  bytes: number;
  cachedPerSecond: number;
  barePerSecond: number;
  ofBare: number;
}

// Allowances of a second and many users: what is measured must not be the limiter's refusal.
export const startService = (options: Parameters<typeof startTestApp>[0]): Promise<TestApp> =>
  startTestApp({ checked: false, env: { LOG_LEVEL: 'warn' }, rates: { windowSeconds: 1 }, ...options });
export const keysOf = async (service: TestApp, users = USERS): Promise<string[]> =>
  Promise.all(Array.from({ length: users }, async () => (await service.newKey('pro')).key));
export const portOf = (app: FastifyInstance): number => (app.server.address() as AddressInfo).port;

/** Requests a second of lists from the cache, beside a bare Fastify route that sends the same bytes. */
export async function fromCache(store: ClickHouse): Promise<CachedResult[]> {
  const service = await startService({ clickhouse: store });
  const keys = await keysOf(service);
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const results: CachedResult[] = [];
  for (const list of LISTS) {
    const path = `/v1/api/${list}`;
    const first = await service.app.inject({ url: path, headers: { 'x-api-key': keys[0] ?? '' } });
    if (first.statusCode !== 200) throw new Error(`${path}: ${first.statusCode} ${first.body.slice(0, 300)}`);
    const bytes = first.rawPayload;
    const plain = Fastify();
    plain.get('/*', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
    await plain.listen({ host: '127.0.0.1', port: 0 });
    const best = await bestOf(
      { port: portOf(service.app), path, keys, connections: CONNECTIONS, ms: ROUND_MS },
      { port: portOf(plain), path, keys, connections: CONNECTIONS, ms: ROUND_MS },
    );
    const [cachedPerSecond = 0, barePerSecond = 0] = best;
    await plain.close();
    results.push({
      endpoint: `GET ${list.split('?', 1)[0]}`,
      bytes: bytes.length,
      cachedPerSecond,
      barePerSecond,
      ofBare: cachedPerSecond / barePerSecond,
    });
  }
  await service.close();
  return results;
}

/** Answers a second of each in its best round, turn about, asked for by another process. */
async function bestOf(...orders: LoadOrder[]): Promise<number[]> {
  const client = fork(new URL('load.ts', import.meta.url));
  const best = orders.map(() => 0);
  const gone = once(client, 'exit').then(([code]) => {
    throw new Error(`the client ended with ${code}`);
  });
  gone.catch(() => {});
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, order] of orders.entries()) {
      client.send(order);
      const [done] = (await Promise.race([once(client, 'message'), gone])) as [number];
      best[index] = Math.max(best[index] ?? 0, Math.round((done * 1000) / order.ms));
    }
  }
  client.kill();
  return best;
}
