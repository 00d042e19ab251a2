import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { openChannels } from '../../src/stores/shared/redis-channels.ts';
import { settle, virtualClock } from '../helpers/virtual-clock.ts';

/** A connection of ioredis, as far as subscriptions use it. `refuses`: the channels whose SUBSCRIBE fails. */
class Connection extends EventEmitter {
  status = 'wait';
  readonly refuses = new Set<string>();
  readonly heard = new Set<string>();

  async connect(): Promise<void> {
    this.status = 'ready';
    this.emit('ready');
  }

  async subscribe(...channels: string[]): Promise<void> {
    if (channels.some((channel) => this.refuses.has(channel))) throw new Error('Command timed out');
    for (const channel of channels) this.heard.add(channel);
  }

  disconnect(): void {
    this.status = 'reconnecting';
    this.heard.clear();
    this.emit('close');
    void this.connect();
  }
}

function open() {
  const clock = virtualClock();
  const connection = new Connection();
  const failures: string[] = [];
  const channels = openChannels(
    connection as unknown as Redis,
    '',
    clock,
    ({ message }) => failures.push(message),
    () => {},
  );
  return { clock, connection, channels, failures };
}

test('a subscription that fails after a reconnect is made again', async () => {
  const { clock, connection, channels, failures } = open();
  await channels.subscribe('a');
  await channels.subscribe('b');
  expect(channels.noneMissed()).toBe(true);

  connection.refuses.add('b');
  connection.disconnect();
  await clock.advance(3000);
  expect(channels.noneMissed()).toBe(false);
  expect(failures).toContain('Command timed out');
  connection.refuses.clear();
  await clock.advance(1500);
  expect([...connection.heard]).toEqual(['a', 'b']);
  expect(channels.noneMissed()).toBe(true);
});

test('messages of a channel whose subscription failed count as missed until it is made again', async () => {
  const { clock, connection, channels } = open();
  await channels.subscribe('a');
  connection.refuses.add('b');
  await channels.subscribe('b');
  await channels.subscribe('c');
  expect(channels.noneMissed()).toBe(false);

  connection.refuses.clear();
  await channels.subscribe('d');
  expect(channels.noneMissed()).toBe(false);
  await clock.advance(1400);
  expect(channels.noneMissed()).toBe(false);
  await clock.advance(200);
  expect([...connection.heard]).toEqual(['a', 'b', 'c', 'd']);
  expect(channels.noneMissed()).toBe(true);
});

test('two first subscriptions at once hear both channels', async () => {
  const { connection, channels } = open();
  await Promise.all([channels.subscribe('a'), channels.subscribe('b')]);
  await settle();
  expect([...connection.heard]).toEqual(['a', 'b']);
  expect(channels.noneMissed()).toBe(true);
});
