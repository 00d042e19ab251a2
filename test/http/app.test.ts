import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { StoreError } from '../../src/stores/clickhouse/errors.ts';
import { endpoint } from '../../src/http/endpoint.ts';
import { PlatformError } from '../../src/core/errors.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const HEALTH = '/v1/api/health';
const JSON_TYPE = { 'content-type': 'application/json' };

let service: TestApp;
let headers: Record<string, string>;
beforeAll(async () => {
  service = await startTestApp({
    env: { CORS_ORIGINS: 'https://app.example/, http://localhost:8080' },
    extend(app) {
      const spec = {
        method: 'GET',
        auth: 'key',
        tag: 'Markets',
        operation: 'fail',
        summary: 'fails',
        answer: z.unknown(),
      } as const;
      const failures: Record<string, () => Error> = {
        bug: () => new TypeError('password=hunter2 at SELECT * FROM users'),
        store: () => new StoreError('unreachable', { cause: new Error('ECONNREFUSED 10.0.0.3:8123') }),
        query: () => new StoreError('failed', { code: '60', cause: new Error('Unknown table trades') }),
        platform: () => new PlatformError('kalshi', 'rate_limited', { retryAfterMs: 1500, detail: 'slow down' }),
      };
      for (const [name, make] of Object.entries(failures)) {
        endpoint(app, { ...spec, url: `/t/${name}` }, () => {
          throw make();
        });
      }
      endpoint(
        app,
        { ...spec, method: 'POST', url: '/t/open', auth: 'none', body: { a: z.string().optional() } },
        ({ body }) => body,
      );
    },
  });
  headers = { 'x-api-key': (await service.newKey()).key };
});
afterAll(() => service.close());

const post = (payload: string | object | undefined, more: Record<string, string> = JSON_TYPE) =>
  service.app.inject({ method: 'POST', url: '/t/open', headers: more, ...(payload === undefined ? {} : { payload }) });

describe('failures', () => {
  test.each([
    ['bug', 500, 'Internal error'],
    ['query', 500, 'Internal error'],
    ['store', 503, 'The data store is unavailable'],
    ['platform', 503, 'Kalshi is rate limiting'],
  ])(
    'of kind %s answer %i without anything of the cause, which is in the log under the request id',
    async (name, status, message) => {
      const answer = await service.app.inject({ url: `/t/${name}`, headers });
      expect(answer.statusCode).toBe(status);
      expect(answer.json().error).toMatchObject({ status, message });
      expect(answer.body).not.toMatch(/hunter2|SELECT|ECONN|Unknown table|10\.0\.0|at /);
      const id = String(answer.headers['x-request-id']);
      expect(
        service
          .logged()
          .split('\n')
          .filter((line) => line.includes(id) && line.includes('"err"')),
      ).toHaveLength(1);
      expect('retry-after' in answer.headers).toBe(status === 503);
    },
  );

  test("a platform's wait is passed on in whole seconds, rounded up", async () => {
    expect((await service.app.inject({ url: '/t/platform', headers })).headers['retry-after']).toBe('2');
  });

  test('an unknown route is 404, a known one under another method 405 with Allow', async () => {
    expect((await service.app.inject({ url: '/v1/api/auth/api-keys/a/b', headers })).statusCode).toBe(404);
    for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
      const answer = await service.app.inject({ method, url: '/v1/api/auth/api-keys?x=1', headers });
      expect(answer.statusCode).toBe(405);
      expect(answer.headers.allow).toBe('GET, HEAD, POST');
    }
    const one = await service.app.inject({ url: '/v1/api/auth/api-keys/some-id', headers });
    expect([one.statusCode, one.headers.allow]).toEqual([405, 'DELETE']);
  });

  test.each([
    ['/v1/api/nowhere', 404],
    ['/v1/api/health', 405],
  ])('a body that is not JSON changes nothing at %s, which reads none', async (url, status) => {
    for (const [type, payload] of [
      ['text/plain', 'x'],
      ['application/json', '{'],
    ] as const) {
      const headers = { 'content-type': type };
      const answer = await service.app.inject({ method: 'POST', url, headers, payload });
      expect([type, answer.statusCode, answer.json().error.status]).toEqual([type, status, status]);
    }
  });
  test.each(['{', '{"a":}', '{"__proto__":{"x":1}}', '{"constructor":{"prototype":{}}}', '\u0000'])(
    'the body %j is 400, not a crash',
    async (payload) => {
      const answer = await post(payload);
      expect(answer.statusCode).toBe(400);
      expect(answer.json().error.error_text).toBe('body: not valid JSON');
    },
  );

  test('a body over 64 KiB is 413, one of 64 KiB passes', async () => {
    const body = `{"a":"${'x'.repeat(65_536 - 8)}"}`;
    expect((await post(body)).statusCode).toBe(200);
    expect((await post(`${body} `)).statusCode).toBe(413);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml'])(
    'a body of %s is 415',
    async (type) => {
      expect((await post('a=1', { 'content-type': type })).statusCode).toBe(415);
    },
  );

  test('an empty body is no body, whatever type it is said to be', async () => {
    expect((await post(undefined)).statusCode).toBe(200);
    expect((await post(undefined, {})).statusCode).toBe(200);
    expect((await post('', { 'content-type': 'application/x-www-form-urlencoded' })).statusCode).toBe(200);
  });
});

test('a request id that is well-formed is kept, any other is replaced', async () => {
  const ids = [];
  for (const given of ['trace-42.a_b', 'a b', 'x'.repeat(65), 'a"b', '']) {
    const answer = await service.app.inject({ url: HEALTH, headers: { 'x-request-id': given } });
    ids.push(answer.headers['x-request-id']);
  }
  expect(ids[0]).toBe('trace-42.a_b');
  for (const id of ids.slice(1)) expect(id).toMatch(/^[\da-f-]{36}$/);
});

test('answers carry security headers and are not kept by caches', async () => {
  const answer = await service.app.inject(HEALTH);
  expect(answer.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  expect(answer.headers['content-security-policy']).toContain("script-src 'self'");
});

const preflight = (origin: string) =>
  service.app.inject({
    method: 'OPTIONS',
    url: '/v1/api/auth/login',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
  });

describe('CORS', () => {
  test('allows the configured origins, which then may call with cookies', async () => {
    const answer = await preflight('https://app.example');
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-credentials': 'true',
    });
    const login = await service.app.inject({
      method: 'POST',
      url: '/v1/api/auth/login',
      headers: { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
      payload: { email: 'nobody@example.com', password: 'x' },
    });
    expect(login.statusCode).toBe(401);
  });
  test('shows a web page every header that OpenAPI names', async () => {
    const { paths } = (await service.app.inject('/v1/api/openapi.json')).json();
    const named =
      JSON.stringify(paths).match(/"(?:X-[\w-]+|ETag|Retry-After|Accept-Ranges|Content-Range)"(?=:\{"description")/g) ??
      [];
    const answer = await service.app.inject({ url: HEALTH, headers: { origin: 'https://app.example' } });
    const shown = String(answer.headers['access-control-expose-headers']).split(/, */);
    expect(new Set(named.map((name) => name.slice(1, -1).toLowerCase()))).toEqual(new Set(shown));
  });
  test('allows every method that a route has', async () => {
    const { paths } = (await service.app.inject('/v1/api/openapi.json')).json();
    const used = Object.values(paths as object).flatMap((path) => Object.keys(path).map((name) => name.toUpperCase()));
    const allowed = String((await preflight('https://app.example')).headers['access-control-allow-methods']).split(
      /, */,
    );
    expect(allowed).toEqual(expect.arrayContaining([...new Set(used)]));
  });
  test('lets a page of an allowed origin read why it is refused', async () => {
    const headers = { origin: 'https://app.example' };
    const answer = await service.app.inject({ url: '/v1/api/markets?provider=kalshi', headers });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-expose-headers': expect.stringContaining('retry-after'),
      vary: 'Origin',
    });
  });
  test('lets a page ask for more addresses in a minute than callers without a key may read', async () => {
    const remoteAddress = service.newAddress();
    const asked = { origin: 'https://app.example', 'access-control-request-method': 'GET' };
    for (let i = 0; i < 100; i++) {
      const url = `/v1/api/markets/id/kalshi:M${i}`;
      const answer = await service.app.inject({ method: 'OPTIONS', url, headers: asked, remoteAddress });
      expect(answer.statusCode).toBe(204);
    }
    const { headers: left } = await service.app.inject({ url: '/reset-password', remoteAddress });
    expect(left['x-ratelimit-remaining']).toBe('59');
  });
  test('answers an OPTIONS that is no preflight as it does without CORS', async () => {
    const plain = await startTestApp({ postgres: service.postgres });
    for (const headers of [{}, { origin: 'https://app.example' }, { 'access-control-request-method': 'GET' }]) {
      const request = { method: 'OPTIONS', url: '/v1/api/auth/login', headers } as const;
      const [answer, without] = [await service.app.inject(request), await plain.app.inject(request)];
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST']);
      expect(answer.json()).toEqual(without.json());
    }
    await plain.close();
  });
  test('allows no other origin, and none at all by default', async () => {
    expect((await preflight('https://evil.example')).headers['access-control-allow-origin']).toBeUndefined();
    const plain = await startTestApp({ postgres: service.postgres });
    const answer = await plain.app.inject({ url: HEALTH, headers: { origin: 'https://app.example' } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    await plain.close();
  });
});

describe('the interface description', () => {
  test('names security, statuses and headers of every route', async () => {
    const { openapi, paths, components } = (await service.app.inject('/v1/api/openapi.json')).json();
    expect(openapi).toMatch(/^3\.1/);
    expect(Object.keys(components.securitySchemes)).toEqual(['apiKey', 'bearer', 'session']);
    const { get, post: create } = paths['/v1/api/auth/api-keys'];
    expect(get.security).toEqual([{ session: [] }]);
    expect(paths['/t/bug'].get.security).toEqual([{ apiKey: [] }, { bearer: [] }, { session: [] }]);
    expect(paths['/v1/api/orders'].post.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
    expect(Object.keys(create.responses)).toEqual([
      '201',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
    for (const path of Object.values(paths) as Record<string, { responses: Record<string, { headers: object }> }>[]) {
      for (const { responses } of Object.values(path)) {
        for (const [status, { headers: described }] of Object.entries(responses)) {
          expect(Object.keys(described)).toEqual(
            expect.arrayContaining(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-Request-Id']),
          );
          expect('Retry-After' in described).toBe(status === '429' || status === '503');
        }
      }
    }
    expect(components.schemas.ErrorAnswer.properties.error.required).toEqual([
      'status',
      'message',
      'resolution',
      'error_text',
    ]);
  });

  test('has a reader that works over plain http and loads nothing from elsewhere', async () => {
    const page = await service.app.inject({ url: '/docs', remoteAddress: service.newAddress() });
    const policy = String(page.headers['content-security-policy']);
    expect(policy).not.toMatch(/upgrade-insecure-requests|https?:|\w\.\w/);
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    const settings = await service.app.inject({
      url: '/docs/static/swagger-initializer.js',
      remoteAddress: service.newAddress(),
    });
    expect(settings.body).toMatch(/"validatorUrl":\s*null/);
  });

  test('has a reader at /docs that loads nothing from elsewhere', async () => {
    const page = await service.app.inject({ url: '/docs', remoteAddress: service.newAddress() });
    expect(page.statusCode).toBe(200);
    expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
    const script = /src="\.?\/?([^"]+\.js)"/.exec(page.body)?.[1] ?? '';
    expect((await service.app.inject(`/docs/${script.replace(/^docs\//, '')}`)).statusCode).toBe(200);
  });
});

describe('on a socket', () => {
  let port = 0;
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    port = (service.app.server.address() as AddressInfo).port;
  });
  const raw = async (text: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.write(text);
    await once(socket, 'close');
    return answer;
  };
  test.each([
    ['400', 'NOT HTTP AT ALL\r\n\r\n'],
    ['431', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`],
  ])('what is not acceptable HTTP is %s in the same envelope with the same headers', async (status, text) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/x-ratelimit-limit: 60\r\nx-ratelimit-remaining: \d+\r\n/);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error.status).toBe(Number(status));
  });
  test('slow clients are cut off: headers after 10 s, the request after 30 s, silence after 90 s', () => {
    const { headersTimeout, requestTimeout, timeout } = service.app.server;
    expect({ headersTimeout, requestTimeout, timeout }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      timeout: 90_000,
    });
  });
});

test('a request taken while the service stops gets the envelope, with every header', async () => {
  const stopping = await startTestApp({ postgres: service.postgres });
  const url = await stopping.app.listen({ host: '127.0.0.1', port: 0 });
  const closed = stopping.app.close();
  const answer = await fetch(`${url}${HEALTH}`);
  expect([answer.status, ((await answer.json()) as { error: { status?: number } }).error.status]).toEqual([503, 503]);
  for (const name of ['retry-after', 'x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining'])
    expect(answer.headers.get(name)).not.toBeNull();
  await closed;
});
