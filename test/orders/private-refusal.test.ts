import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { OrderContext } from '../../src/orders/context.ts';
import { PrivateSockets } from '../../src/orders/private/private-sockets.ts';
import type { SocketChannel } from '../../src/platforms/sockets/contract.ts';
import { socketCounts } from '../helpers/socket-counts.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const MINUTE = 60_000;

/** Private sockets of one credential, at a platform that refuses each upgrade. */
async function refusedSockets() {
  const seen = { upgrades: 0 };
  const server = createServer();
  server.on('upgrade', (_request, socket) => {
    seen.upgrades += 1;
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const channel: SocketChannel = {
    name: 'orders',
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    marketsPerSocket: null,
    heartbeat: null,
    silentMs: 25_000,
    quietMs: null,
    rotateMs: 60 * MINUTE,
    bringsTrades: false,
    session: () => ({ start() {}, setMarkets() {}, take: () => false }),
  };
  const clock = virtualClock();
  const account = { userId: 'ann', platform: 'kalshi', credentialId: 7 };
  const context = {
    clock,
    now: clock.now,
    log: pino({ level: 'silent' }),
    credentials: { ofUsers: async () => [{ id: 7, userId: 'ann', platform: 'kalshi' }] },
    clients: { reopen: async () => ({ account, privateChannel: () => channel }) },
  } as unknown as OrderContext;
  const sockets = new PrivateSockets(context, socketCounts());
  onTestFinished(async () => {
    await sockets.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  return { clock, sockets, seen };
}

test('a refused private socket is tried again after ten minutes, for as long as its user streams', async () => {
  const { clock, sockets, seen } = await refusedSockets();
  const leave = sockets.follow('ann');
  await clock.until(() => seen.upgrades === 1, MINUTE);
  await clock.advance(9 * MINUTE);
  expect(seen.upgrades).toBe(1);
  await clock.until(() => seen.upgrades === 2, 2 * MINUTE);
  leave();
  await clock.advance(30 * MINUTE);
  expect(seen.upgrades).toBe(2);
});
