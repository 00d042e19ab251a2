import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Platform } from '../../src/core/model.ts';
import type { OrderContext } from '../../src/orders/context.ts';
import { PrivateSockets } from '../../src/orders/private/private-sockets.ts';
import type { SocketChannel } from '../../src/platforms/sockets/contract.ts';
import { socketCounts } from '../helpers/socket-counts.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

const MINUTE = 60_000;

interface Stored {
  id: number;
  userId: string;
  platform: Platform;
}

/** Private sockets of stored credentials, at a platform that refuses the upgrades of some. */
async function privateSockets(stored: Stored[], { most = 200, refused = [] as number[] } = {}) {
  const clock = virtualClock();
  const seen = { upgrades: 0, atOnce: 0, open: new Set<number>(), opened: [] as (Stored & { at: number })[] };
  const server = createServer();
  const upgrader = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const id = Number(request.url?.slice(1));
    seen.upgrades += 1;
    if (refused.includes(id)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    upgrader.handleUpgrade(request, socket, head, (connection) => {
      seen.open.add(id);
      seen.atOnce = Math.max(seen.atOnce, seen.open.size);
      connection.on('close', () => seen.open.delete(id));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const channel = (id: number): SocketChannel => ({
    name: 'orders',
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/${id}`,
    marketsPerSocket: null,
    heartbeat: null,
    silentMs: 25_000,
    quietMs: null,
    rotateMs: 60 * MINUTE,
    bringsTrades: false,
    session: () => ({ start() {}, setMarkets() {}, take: () => false }),
  });
  const reopen = async (account: Omit<Stored, 'id'> & { credentialId: number }) => ({
    account,
    privateChannel: () => {
      seen.opened.push({ ...account, id: account.credentialId, at: clock.elapsed() });
      return channel(account.credentialId);
    },
  });
  const context = {
    clock,
    now: clock.now,
    log: pino({ level: 'silent' }),
    credentials: { ofUsers: async (users: string[]) => stored.filter(({ userId }) => users.includes(userId)) },
    clients: { reopen },
  } as unknown as OrderContext;
  const sockets = new PrivateSockets(context, socketCounts(), most);
  onTestFinished(async () => {
    await sockets.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  return { clock, sockets, seen };
}

const owned = (userId: string, ids: number[], platform: Platform = 'kalshi'): Stored[] =>
  ids.map((id) => ({ id, userId, platform }));

test('a refused private socket is tried again after ten minutes, for as long as its user streams', async () => {
  const { clock, sockets, seen } = await privateSockets(owned('ann', [7]), { refused: [7] });
  const leave = sockets.follow('ann');
  await clock.until(() => seen.upgrades === 1, MINUTE);
  await clock.advance(9 * MINUTE);
  expect(seen.upgrades).toBe(1);
  await clock.until(() => seen.upgrades === 2, 2 * MINUTE);
  leave();
  await clock.advance(30 * MINUTE);
  expect(seen.upgrades).toBe(2);
});

test('a user has ten private sockets, and the next credential has the place of a removed one', async () => {
  const stored = owned(
    'ann',
    Array.from({ length: 50 }, (_, n) => 50 - n),
  );
  const { clock, sockets, seen } = await privateSockets(stored);
  sockets.follow('ann');
  await clock.advance(10_000);
  expect([...seen.open]).toEqual([50, 49, 48, 47, 46, 45, 44, 43, 42, 41]);
  stored.splice(2, 1);
  await clock.advance(3000);
  expect([...seen.open]).toEqual([50, 49, 47, 46, 45, 44, 43, 42, 41, 40]);
});

test('a process has so many private sockets, one of each user before a second one, and frees the place of who leaves', async () => {
  const stored = [...owned('ann', [5, 4, 3]), ...owned('bob', [9, 8])];
  const { clock, sockets, seen } = await privateSockets(stored, { most: 3 });
  sockets.follow('ann');
  const leave = sockets.follow('bob');
  await clock.advance(10_000);
  expect([...seen.open]).toEqual([5, 9, 4]);
  leave();
  await clock.until(() => seen.open.has(3), 6000);
  expect(seen.open).toEqual(new Set([5, 4, 3]));
  expect(seen.atOnce).toBe(3);
});

test('a refused private socket leaves its place to one that waits', async () => {
  const { clock, sockets, seen } = await privateSockets(owned('ann', [2, 1]), { most: 1, refused: [2] });
  sockets.follow('ann');
  await clock.until(() => seen.open.has(1), 6000);
});

test('refused private sockets of a user leave their places to the next credentials', async () => {
  const ids = Array.from({ length: 12 }, (_, n) => 12 - n);
  const { clock, sockets, seen } = await privateSockets(owned('ann', ids), { refused: ids.slice(0, 10) });
  sockets.follow('ann');
  await clock.until(() => seen.open.size === 2, 20_000);
  expect(seen.open).toEqual(new Set([2, 1]));
});

test('private sockets of one platform are opened four in a second at most, whoever owns them', async () => {
  const users = ['ann', 'bob', 'cid', 'dan', 'eve'];
  const stored = users.flatMap((user, n) => [...owned(user, [n]), ...owned(user, [n + 10], 'limitless')]);
  const { clock, sockets, seen } = await privateSockets(stored);
  for (const user of users) sockets.follow(user);
  await clock.advance(5000);
  for (const platform of ['kalshi', 'limitless']) {
    const times = seen.opened.filter((one) => one.platform === platform).map(({ at }) => at);
    const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
    expect(gaps).toHaveLength(4);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
    expect(Math.max(...gaps)).toBeLessThan(600);
  }
});
