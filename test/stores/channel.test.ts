import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { systemClock } from '../../src/core/time.ts';
import { hearChannel } from '../../src/stores/postgres/channel.ts';
import { silent } from '../helpers/silent-log.ts';

/** A log and the warnings in it. */
function warnings() {
  const lines: unknown[] = [];
  const log: Log = { ...silent, warn: (...line: unknown[]) => void lines.push(line) };
  return { lines, log };
}

test('a channel closes while its connection is being opened, and logs nothing', async () => {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const { lines, log } = warnings();
  const heard = hearChannel(
    { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    { channel: 'changes', onMessage: () => {}, send: async () => {}, log, clock: systemClock },
  );
  await accepted;
  await expect(heard.close().then(() => heard.since())).resolves.toBeNull();
  expect(lines).toEqual([]);
});

test('a channel that cannot be opened logs the first of its failures in a row', async () => {
  let attempts = 0;
  const server = createServer((socket) => {
    attempts += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { lines, log } = warnings();
  const heard = hearChannel(
    { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    { channel: 'changes', onMessage: () => {}, send: async () => {}, log, clock: systemClock },
  );
  await expect.poll(() => attempts, { timeout: 10_000 }).toBeGreaterThan(2);
  await heard.close();
  expect(lines).toEqual([[{ err: expect.any(Error), channel: 'changes' }, 'Failed to listen to a PostgreSQL channel']]);
});
