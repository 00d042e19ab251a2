import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { Pool } from 'undici';
import { z } from 'zod';
import { endpoint } from '../../src/http/endpoint.ts';
import { Rendered, sendRendered } from '../../src/http/rendered-answer.ts';
import { startTestApp } from '../helpers/app.ts';

const ROUNDS = 4000;
const rows = Rendered.of({ rows: Array.from({ length: 50 }, (_, id) => ({ id, title: `market ${id}` })) }, {});
const call = { requestTimeMs: 0, cacheHit: true };

/** What identification and limits add to a cached answer: p50 of the same body bare, and behind a known key. */
export async function benchAuth(): Promise<{ bareMs: number; keyedMs: number }> {
  const service = await startTestApp({
    checked: false,
    env: { LOG_LEVEL: 'warn' },
    rates: { windowSeconds: 1 },
    extend(app) {
      const spec = {
        method: 'GET',
        auth: 'key',
        tag: 'Markets',
        operation: 'cached',
        summary: 'cached rows',
        answer: z.unknown(),
      } as const;
      endpoint(app, { ...spec, url: '/keyed' }, ({ request, reply }) => sendRendered(request, reply, rows, call));
    },
  });
  const bare: FastifyInstance = Fastify();
  bare.get('/bare', (request, reply) => sendRendered(request, reply, rows, call));
  await Promise.all([service.app, bare].map((app) => app.listen({ host: '127.0.0.1', port: 0 })));
  const users = await Promise.all(Array.from({ length: 40 }, () => service.newKey('pro')));
  const time = async (app: FastifyInstance, path: string): Promise<number> => {
    const pool = new Pool(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, { connections: 1 });
    const taken: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      const headers = { 'x-api-key': users[i % users.length]?.key ?? '' };
      const started = performance.now();
      const answer = await pool.request({ path, method: 'GET', headers });
      await answer.body.arrayBuffer();
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
      taken.push(performance.now() - started);
    }
    await pool.close();
    return taken.toSorted((a, b) => a - b)[ROUNDS / 2] ?? Number.NaN;
  };
  await time(bare, '/bare');
  await time(service.app, '/keyed');
  const bareMs = await time(bare, '/bare');
  const keyedMs = await time(service.app, '/keyed');
  await bare.close();
  await service.close();
  return { bareMs, keyedMs };
}
