import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { endpoint } from '../../src/http/endpoint.ts';
import { Rendered, sendRendered } from '../../src/http/rendered-answer.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const TIMING = { requestTimeMs: 3, cacheHit: true };
const SENT = { request_time: 3, cache_hit: true };

describe('stored data', () => {
  let service: TestApp;
  let headers: Record<string, string>;
  let rows = Array.from({ length: 1000 }, (_, id) => ({ id }));
  let calls = 0;
  let complete = true;
  beforeAll(async () => {
    const answer = z.object({
      rows: z.array(z.object({ id: z.int() })).optional(),
      meta: z.looseObject({}),
    });
    const spec = { method: 'GET', auth: 'key', tag: 'Markets', operation: 'rows', summary: 'rows', answer } as const;
    service = await startTestApp({
      extend(app) {
        endpoint(app, { ...spec, url: '/t/rows' }, ({ request, reply }) =>
          sendRendered(request, reply, Rendered.of({ rows }, { complete, data_freshness: `${(calls += 1)}` }), TIMING),
        );
        endpoint(app, { ...spec, url: '/t/empty' }, ({ request, reply }) =>
          sendRendered(request, reply, Rendered.of({}, { complete }), TIMING),
        );
      },
    });
    headers = { 'x-api-key': (await service.newKey()).key };
  });
  afterAll(() => service.close());
  const get = (url: string, more: Record<string, string> = {}) =>
    service.app.inject({ url, headers: { ...headers, ...more } });

  test('is sent with its meta and an ETag that stands for the data, not for its times', async () => {
    const [first, second] = [await get('/t/rows'), await get('/t/rows')];
    expect(first.json()).toEqual({ rows, meta: { complete, data_freshness: '1', ...SENT } });
    expect(first.headers.etag).toMatch(/^W\/".{20,}"$/);
    expect(second.headers.etag).toBe(first.headers.etag);
    expect((await get('/t/empty')).json()).toEqual({ meta: { complete, ...SENT } });
  });
  test('whose rows were incomplete comes again once they are complete, though none changed', async () => {
    complete = false;
    const etag = String((await get('/t/rows')).headers.etag);
    complete = true;
    const again = await get('/t/rows', { 'if-none-match': etag });
    expect(again.statusCode).toBe(200);
    expect(again.json()).toMatchObject({ meta: { complete: true } });
  });
  test('that the caller already has is 304 without a body, and comes again when it changed', async () => {
    const etag = String((await get('/t/rows')).headers.etag);
    for (const match of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const answer = await get('/t/rows', { 'if-none-match': match });
      expect(answer.statusCode).toBe(304);
      expect(answer.body).toBe('');
      expect(answer.headers.etag).toBe(etag);
      expect(answer.headers['x-ratelimit-limit']).toBe('250');
    }
    rows = rows.slice(1);
    expect((await get('/t/rows', { 'if-none-match': etag })).statusCode).toBe(200);
  });
  test.each(['br', 'gzip'])('is compressed with %s on request, under the same ETag', async (encoding) => {
    const plain = await get('/t/rows');
    const packed = await get('/t/rows', { 'accept-encoding': encoding });
    expect(packed.headers['content-encoding']).toBe(encoding);
    expect(packed.headers.etag).toBe(plain.headers.etag);
    expect(packed.headers.vary).toContain('accept-encoding');
    expect(plain.headers.vary).toBe(packed.headers.vary);
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length);
  });
  test('shows for each call its own time and whether a cache answered, whatever was sent before', async () => {
    const data = Rendered.of({ rows: [] }, { of: 'data' });
    const bodies = await Promise.all(
      [0, 1, 0, 20, 0].flatMap((requestTimeMs) =>
        [true, false].map(async (cacheHit) => {
          const body = JSON.parse(String(await data.body(null, { requestTimeMs, cacheHit }))) as { meta: object };
          return [body.meta, { of: 'data', request_time: requestTimeMs, cache_hit: cacheHit }];
        }),
      ),
    );
    for (const [sent, meant] of bodies) expect(sent).toEqual(meant);
  });
});
