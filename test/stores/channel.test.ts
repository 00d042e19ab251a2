import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { hearChannel } from '../../src/stores/postgres/channel.ts';
import { silent } from '../helpers/silent-log.ts';

test('a channel closes while its connection is being opened', async () => {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const heard = hearChannel(
    { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    { channel: 'changes', onMessage: () => {}, send: async () => {}, log: silent, clock: systemClock },
  );
  await accepted;
  await expect(heard.close().then(() => heard.since())).resolves.toBeNull();
});
