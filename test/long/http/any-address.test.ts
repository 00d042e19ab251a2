import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressMaker, UNDESCRIBED } from '../../fuzz/addresses.ts';
import { RawConnection, type RawReply } from '../../fuzz/raw-connection.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { createRng } from '../../simulators/lib/rng.ts';

let service: TestApp;
let port = 0;
beforeAll(async () => {
  service = await startTestApp({ env: { TRUST_PROXY: '127.0.0.1' } });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = service.app.server.address() as AddressInfo);
});
afterAll(() => service.close());

/** The path goes out as it is written: no client puts it right. */
async function get(path: string, headers = ''): Promise<RawReply> {
  const connection = new RawConnection(port);
  const from = `x-forwarded-for: ${service.newAddress()}\r\n`;
  const reply = await connection.ask(`GET ${path} HTTP/1.1\r\nhost: x\r\n${from}${headers}\r\n`, 5000);
  connection.close();
  return reply;
}

describe('under /docs/static', () => {
  test.each([
    '/docs/static/../../package.json',
    '/docs/static/../x',
    '/docs/static/%2e%2e/x',
    '/docs/static/%2e%2e%2fx',
    '/docs/static/..%2f..%2f..%2fpackage.json',
    '/docs/static/..%5c..%5cpackage.json',
    '/docs/static/%00',
    '/docs/static/index.html%00.css',
    '/docs/static//etc/passwd',
    '/docs/static/.git/config',
    '/docs/static/%ff',
    `/docs/static/${'a'.repeat(300)}`,
    '/docs/static/swagger-ui.css/x',
    '/docs/static',
    '/docs/%2e%2e/x',
  ])('%s leads nowhere', async (path) => {
    const { status, body, headers } = await get(path);
    expect([400, 404], body).toContain(status);
    expect(JSON.parse(body)).toMatchObject({ error: { status } });
    expect(headers['x-ratelimit-limit']).toBeDefined();
  });

  test('conditions and ranges that cannot be met are the caller’s', async () => {
    expect((await get('/docs/static/swagger-ui.css')).status).toBe(200);
    expect((await get('/docs/static/swagger-ui.css', 'range: bytes=99999999-\r\n')).status).toBe(416);
    expect((await get('/docs/static/swagger-ui.css', 'if-match: "x"\r\n')).status).toBe(412);
  });

  test('nothing of it is logged as an error of ours', () => {
    expect(service.logged()).not.toMatch(/"level":(50|"error")/);
  });
});

test('a malformed request after an upgrade that is not taken is not left without an answer', async () => {
  for (const path of ['/docs', '/v1/api/health', '/v1/api/markets', '/%ff']) {
    const connection = new RawConnection(port);
    const upgrade = 'connection: upgrade\r\nupgrade: h2c\r\n';
    const { status } = await connection.ask(`GET ${path} HTTP/1.1\r\nhost: x\r\n${upgrade}\r\n`, 5000);
    expect([200, 302, 400, 401]).toContain(status);
    if (!connection.open) continue;
    await connection.ask(Buffer.from('GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n', 'latin1'), 2000);
    connection.close();
  }
});

test('a connection that offers another protocol is closed after the answer', async () => {
  const connection = new RawConnection(port);
  const offer = 'GET /v1/api/health HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';
  expect((await connection.ask(offer, 5000)).status).toBe(200);
  await expect.poll(() => connection.open).toBe(false);
  connection.close();
});

test('a WebSocket that is refused leaves no connection open, though its client stops at half', async () => {
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: x\r\n';
  for (const path of ['/docs', '/v1/api/health', '/v1/api/ws', '/%ff']) {
    // A half-open client: it ends its side and reads on.
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.end(`GET ${path} HTTP/1.1\r\nhost: x\r\n${upgrade}\r\n`);
    expect(await text(client)).toMatch(/^HTTP\/1\.1 \d{3} [^]*\r\nconnection: close\r\n/i);
    client.destroy();
  }
  const open = promisify(service.app.server.getConnections.bind(service.app.server));
  await expect.poll(open).toBe(0);
});

test('no address of any shape is answered as a fault of ours', async () => {
  const ADDRESSES = 5000;
  const LANES = 8;
  const { body: described } = await get('/v1/api/openapi.json');
  const routes = [...Object.keys((JSON.parse(described) as { paths: object }).paths), ...UNDESCRIBED];
  const next = addressMaker(createRng(20), routes);
  const found: string[] = [];
  const statuses = new Map<number, number>();
  const lane = async (): Promise<void> => {
    let connection = new RawConnection(port);
    for (let i = 0; i < ADDRESSES / LANES; i += 1) {
      if (!connection.open) connection = new RawConnection(port);
      const address = next();
      const head = `GET ${address} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${service.newAddress()}\r\n\r\n`;
      const { status, body } = await connection.ask(Buffer.from(head, 'latin1'), 10_000);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 0 || status >= 500) found.push(`${JSON.stringify(address)}: ${status} ${body.slice(0, 200)}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(found.slice(0, 10)).toEqual([]);
  // It reached the routes, and was refused in every way that an address can be.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 302, 400, 401, 404]));
});
