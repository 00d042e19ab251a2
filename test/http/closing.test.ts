import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { closesInTime } from '../../src/http/closing.ts';
import { startTestApp } from '../helpers/app.ts';

vi.setConfig({ testTimeout: 30_000 });

/** A listening service, and a connection to it that has sent `text`. */
async function withConnection(text: string) {
  const service = await startTestApp();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const client = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  await once(client, 'connect');
  await expect.poll(() => connections(service.app.server)).toBe(1);
  client.write(text);
  return { service, client };
}
const connections = (server: { getConnections: (done: (error: Error | null, count: number) => void) => void }) =>
  new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));

test.each([
  ['has sent nothing', ''],
  ['has sent half a request', 'GET /v1/api/health HTTP/1.1\r\nhost: x\r\n'],
])('a connection that %s does not keep the service from stopping in time', async (_what, text) => {
  const { service, client } = await withConnection(text);
  const ended = once(client, 'close');
  const late = new Promise((resolve) => setTimeout(resolve, 9000, 'late').unref());
  expect(await Promise.race([service.close().then(() => 'closed'), late])).toBe('closed');
  await ended;
});

test('the listener is closed as soon as the waiting connections are taken: those that came later would be reset', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const end = closesInTime({ server });
  await end();
  const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});
