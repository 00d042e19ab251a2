import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../../src/core/log.ts';
import { systemClock } from '../../src/core/time.ts';
import { hearChannel } from '../../src/stores/postgres/channel.ts';
import { TEST_SERVER } from '../helpers/databases.ts';
import { startProxy } from '../helpers/proxy.ts';
import { silent } from '../helpers/silent-log.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

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

test('a connection that falls silent without an end counts as lost when a check gets no answer', async () => {
  const { host, port, user, password, database } = new pg.Client(TEST_SERVER);
  const network = await startProxy(host, port);
  onTestFinished(() => network.close());
  const pool = new pg.Pool({ connectionString: TEST_SERVER });
  onTestFinished(() => pool.end());
  const clock = virtualClock(Date.now());
  const { lines, log } = warnings();
  const send = (text: string): Promise<unknown> => pool.query('SELECT pg_notify($1, $2)', ['silence', text]);
  const heard = hearChannel(
    { host: '127.0.0.1', port: network.port, user, password: password ?? '', database },
    { channel: 'silence', onMessage: () => {}, send, checkMs: 300, log, clock },
  );
  onTestFinished(() => heard.close());
  await expect.poll(() => heard.since()).not.toBeNull();
  const since = heard.since();
  await clock.advance(3_000);
  expect(heard.since(), 'checks that are answered change nothing').toBe(since);

  network.hang();
  await clock.advance(300);
  await expect.poll(() => heard.since()).toBeNull();
  await network.restore();
  const back = async (): Promise<number | null> => {
    await clock.advance(100);
    return heard.since();
  };
  await expect.poll(back).not.toBeNull();
  expect(lines[0]).toEqual([{ channel: 'silence' }, 'PostgreSQL dropped the connection of a channel']);
});
