import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { z } from 'zod';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { answerStored, sendKept } from '../../src/http/cached-answer.ts';
import { wantedFormat } from '../../src/http/formats.ts';
import { endpoint } from '../../src/http/endpoint.ts';
import { startTestApp } from '../helpers/app.ts';
import { silent } from '../helpers/silent-log.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

test.each([
  [undefined, 'json'],
  ['*/*', 'json'],
  ['text/html', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV; header=present', 'csv'],
  ['application/x-ndjson, */*;q=0.1', 'ndjson'],
  ['*/*, text/csv', 'csv'],
  ['application/json, text/csv;q=0.1', 'json'],
  ['application/json;q=0.5, text/csv ; q=0.9', 'csv'],
  ['application/x-ndjson, text/csv', 'ndjson'],
  ['text/csv;q=0, application/json;q=0.1', 'json'],
  ['text/csv;q=lots', 'json'],
  ['constructor, application/x-ndjson;q=0', 'json'],
  ['constructor, toString, text/csv;q=0.5', 'csv'],
  ['__proto__, hasOwnProperty, x-csv', 'json'],
])('Accept: %s is answered as %s', (accept, format) => {
  expect(wantedFormat(accept)).toBe(format);
});

const noMark = async (): Promise<null> => null;
const noStream = (): Promise<never> => Promise.reject(new Error());

test('what was stored while an answer was being read is not claimed to be in it', async () => {
  const shared = createLocalShared(silent, systemClock);
  const app = Fastify();
  const stored: number[] = [];
  const mark = async (): Promise<string> => {
    await sleep(20);
    stored.push(1);
    return String(stored.length);
  };
  app.get('/', (request, reply) =>
    answerStored(
      {
        shared,
        clock: systemClock,
        freshness: { listings: mark, trades: mark },
        clickhouse: { stream: () => Promise.reject(new Error()) },
      },
      { request, reply, params: {}, query: {}, answer: z.object({ rows: z.array(z.number()), meta: z.object({}) }) },
      { ttlMs: 1000, from: 'trades', platforms: ['kalshi'] },
      async () => ({ body: { rows: [...stored] }, meta: {}, rows: 'rows' }),
    ),
  );
  const answer = (await app.inject('/')).json<{ rows: number[]; meta: { data_freshness: string } }>();
  expect(answer.rows).toHaveLength(Number(answer.meta.data_freshness));
  await app.close();
  await shared.close();
});

test.each([
  ['2026-01-01T00:00:05.000Z', '2026-01-01T00:00:09.000Z', '2026-01-01T00:00:05.000Z'],
  ['2026-01-01T00:00:09.000Z', '2026-01-01T00:00:05.000Z', '2026-01-01T00:00:05.000Z'],
  ['2026-01-01T00:00:09.000Z', null, null],
  [null, '2026-01-01T00:00:05.000Z', null],
])('rows that are complete to %s and were computed at %s are as fresh as %s', async (mark, asOf, expected) => {
  const shared = createLocalShared(silent, systemClock);
  const freshness = { listings: async () => mark, trades: async () => mark };
  const services = { shared, clock: systemClock, freshness, clickhouse: { stream: noStream } };
  const app = Fastify();
  const answer = z.object({ meta: z.object({ as_of: z.string().nullable() }) });
  app.get('/', (request, reply) =>
    answerStored(
      services,
      { request, reply, params: {}, query: {}, answer },
      { from: 'trades', platforms: ['kalshi'] },
      async () => ({ body: {}, meta: { as_of: asOf } }),
    ),
  );
  expect((await app.inject('/')).json().meta).toMatchObject({ as_of: asOf, data_freshness: expected });
  await app.close();
  await shared.close();
});

test("what was read with one caller's account is not kept for the URL, which others may call", async () => {
  const shared = createLocalShared(silent, systemClock);
  const services = {
    shared,
    clock: systemClock,
    freshness: { listings: noMark, trades: noMark },
    clickhouse: { stream: () => Promise.reject(new Error()) },
  };
  const app = Fastify();
  app.get('/:kind', { config: { stored: 'whole' } }, (request, reply) => {
    if (sendKept(shared.localCache, request, reply, {})) return undefined;
    const owner = String(request.headers['x-owner']);
    const { kind } = request.params as { kind: string };
    const call = { request, reply, params: {}, query: {}, answer: z.object({ of: z.string(), meta: z.object({}) }) };
    const cache = { ttlMs: 5000, ...(kind === 'own' ? { owner } : {}) };
    return answerStored(services, call, cache, async () => ({ body: { of: `${kind} ${owner}` }, meta: {} }));
  });
  const asked = async (kind: string, owner: string) =>
    (await app.inject({ url: `/${kind}`, headers: { 'x-owner': owner } })).json<{ of: string }>().of;
  expect([await asked('own', 'a'), await asked('own', 'b'), await asked('own', 'a')]).toEqual([
    'own a',
    'own b',
    'own a',
  ]);
  expect([await asked('all', 'a'), await asked('all', 'b')]).toEqual(['all a', 'all a']);
  await app.close();
  await shared.close();
});

test('an answer from data whose first reading has not ended is made again soon, and others are kept', async () => {
  const clock = virtualClock();
  const shared = createLocalShared(silent, clock);
  const marks = { first: null as string | null };
  const mark = async (): Promise<string | null> => marks.first;
  const services = { shared, clock, freshness: { listings: mark, trades: mark }, clickhouse: { stream: noStream } };
  const app = Fastify();
  let stored = 0;
  app.get('/', { config: { stored: 'whole' } }, (request, reply) => {
    if (sendKept(shared.localCache, request, reply, {})) return undefined;
    const call = { request, reply, params: {}, query: {}, answer: z.object({ n: z.number(), meta: z.object({}) }) };
    return answerStored(services, call, { from: 'listings', platforms: ['kalshi'] }, async () => ({
      body: { n: stored },
      meta: {},
    }));
  });
  const asked = async (afterMs: number): Promise<number> => {
    await clock.advance(afterMs);
    return (await app.inject('/')).json<{ n: number }>().n;
  };
  expect(await asked(0)).toBe(0);
  stored = 1;
  expect([await asked(100), await asked(200)]).toEqual([0, 1]);
  marks.first = new Date(0).toISOString();
  await clock.advance(300);
  expect(await asked(0)).toBe(1);
  stored = 2;
  expect([await asked(1000), await asked(1100)]).toEqual([1, 2]);
  await app.close();
  await shared.close();
});

const rows = Array.from({ length: 300 }, (_, id) => ({ id }));

test.each([
  ['plain', 'GET', {}],
  ['compressed', 'GET', { 'accept-encoding': 'br' }],
  ['to a HEAD request', 'HEAD', {}],
  ['to a page of another origin', 'GET', { origin: 'https://a.example' }],
  ['to a page that may not read it', 'GET', { origin: 'https://b.example' }],
  ['to a caller that has it', 'GET', { 'if-none-match': '*' }],
  ['to a HEAD request of a caller that has it', 'HEAD', { 'if-none-match': '*' }],
] as const)('an answer from memory, %s, has the status and headers of the first', async (_, method, more) => {
  const answer = z.object({ rows: z.array(z.object({ id: z.int() })), meta: z.looseObject({}) });
  const spec = { method: 'GET', auth: 'key', tag: 'Markets', operation: 'kept', summary: 'kept', answer } as const;
  const service = await startTestApp({
    env: { CORS_ORIGINS: 'https://a.example' },
    extend: (app, services) =>
      endpoint(app, { ...spec, url: '/t/kept', stored: 'rows' }, (call) =>
        answerStored(services, call, { ttlMs: 60_000 }, async () => ({ body: { rows }, meta: {}, rows: 'rows' })),
      ),
  });
  try {
    const headers = { 'x-api-key': (await service.newKey()).key, ...more };
    const ask = () => service.app.inject({ url: '/t/kept', method, headers });
    const [first, second] = [await ask(), await ask()];
    expect(second.statusCode).toBe(first.statusCode);
    expect(lasting(second.headers)).toEqual(lasting(first.headers));
    // RFC 9110, 8.6: the length of a 304 would be that of the whole answer.
    const has304Length = [first, second].some((one) => one.statusCode === 304 && 'content-length' in one.headers);
    expect(has304Length).toBe(false);
    expect(second.rawPayload.length > 0).toBe(first.rawPayload.length > 0);
    if (first.headers['content-encoding'] !== undefined || first.body === '') return;
    expect(first.json<Answered>().meta.cache_hit).toBe(false);
    expect(second.json<Answered>().meta.cache_hit).toBe(true);
    expect(second.json<Answered>().rows).toEqual(rows);
  } finally {
    await service.close();
  }
});

interface Answered {
  rows: object[];
  meta: { cache_hit: boolean };
}
/** Headers but those that differ between two calls; `meta` makes their lengths differ too. */
const lasting = (headers: object): object =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !['x-request-id', 'x-ratelimit-remaining', 'date', 'content-length'].includes(name),
    ),
  );
