import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { endpoint } from '../src/endpoint.ts';
import { createCursors, pagination, render, sendStored } from '../src/pages.ts';
import { startTestApp, type TestApp } from './helpers/app.ts';

const Position = z.object({ after: z.string(), total: z.int() });
const cursors = createCursors('a secret of the service');
const position = { after: 'kalshi:A', total: 7 };
const filters = { platform: 'kalshi', status: undefined, ids: ['b', 'a'], min: 5n };

describe('a cursor', () => {
  test('carries its position, opaque and in base64url', () => {
    const cursor = cursors.encode('/markets', filters, position);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(cursors.decode('/markets', filters, cursor, Position)).toEqual(position);
  });
  test('does not depend on the order of the filters or on those left out', () => {
    const cursor = cursors.encode('/markets', { a: 1, b: 2 }, position);
    expect(cursors.decode('/markets', { b: 2, a: 1, c: undefined, d: null }, cursor, Position)).toEqual(position);
  });
  test.each([
    ['another endpoint', '/trades', filters],
    ['a changed filter', '/markets', { ...filters, platform: 'polymarket' }],
    ['a filter more', '/markets', { ...filters, status: 'open' }],
    ['a changed list', '/markets', { ...filters, ids: ['a', 'b'] }],
  ])('under %s is 400', (_, url, other) => {
    const cursor = cursors.encode('/markets', filters, position);
    expect(() => cursors.decode(url, other, cursor, Position)).toThrow(expect.objectContaining({ status: 400 }));
  });
  test('damaged anywhere, cut, foreign or invented is 400', () => {
    const cursor = cursors.encode('/markets', filters, position);
    const damaged = Array.from(
      cursor,
      (char, i) => `${cursor.slice(0, i)}${char === 'A' ? 'B' : 'A'}${cursor.slice(i + 1)}`,
    );
    const foreign = createCursors('another secret').encode('/markets', filters, position);
    const shape = cursors.encode('/markets', filters, { page: 2 });
    for (const bad of [
      ...damaged.slice(0, -1),
      cursor.slice(0, -3),
      '',
      'x',
      'not a cursor',
      foreign,
      shape,
      `${cursor}=`,
    ]) {
      expect(() => cursors.decode('/markets', filters, bad, Position)).toThrow(
        expect.objectContaining({ status: 400 }),
      );
    }
  });
});

test('pagination: the last page has no more and no cursor', () => {
  expect(pagination(7, 5, 'abc')).toEqual({ total: 7, limit: 5, has_more: true, next_cursor: 'abc' });
  expect(pagination(0, 5, null)).toEqual({ total: 0, limit: 5, has_more: false, next_cursor: null });
});

describe('stored data', () => {
  let service: TestApp;
  let headers: Record<string, string>;
  let rows = Array.from({ length: 1000 }, (_, id) => ({ id }));
  let calls = 0;
  beforeAll(async () => {
    const answer = z.object({ rows: z.array(z.object({ id: z.int() })).optional(), meta: z.object({ call: z.int() }) });
    const spec = { method: 'GET', auth: 'key', tag: 'Markets', operation: 'rows', summary: 'rows', answer } as const;
    service = await startTestApp({
      extend(app) {
        endpoint(app, { ...spec, url: '/t/rows' }, ({ request, reply }) =>
          sendStored(request, reply, render({ rows }), { call: (calls += 1) }),
        );
        endpoint(app, { ...spec, url: '/t/empty' }, ({ request, reply }) =>
          sendStored(request, reply, render({}), { call: 0 }),
        );
      },
    });
    headers = { 'x-api-key': (await service.newKey()).key };
  });
  afterAll(() => service.close());
  const get = (url: string, more: Record<string, string> = {}) =>
    service.app.inject({ url, headers: { ...headers, ...more } });

  test('is sent with its meta and an ETag that stands for the data alone', async () => {
    const [first, second] = [await get('/t/rows'), await get('/t/rows')];
    expect(first.json()).toEqual({ rows, meta: { call: 1 } });
    expect(first.headers.etag).toMatch(/^W\/".{20,}"$/);
    expect(second.headers.etag).toBe(first.headers.etag);
    expect((await get('/t/empty')).json()).toEqual({ meta: { call: 0 } });
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
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length);
  });
});
