import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/time.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import { createPolymarketSockets } from '../../src/platforms/polymarket/stream/sockets.ts';
import { BadFrame, type SocketChannel, type SocketEvent } from '../../src/platforms/sockets/contract.ts';
import type { SocketConnection } from '../../src/platforms/sockets/connection.ts';
import { SocketKeeper } from '../../src/platforms/sockets/keeper.ts';
import { socketCounts } from '../helpers/socket-counts.ts';
import { settle, virtualClock } from '../helpers/virtual-clock.ts';
import { createSimSockets, type SimClient } from '../simulators/lib/index.ts';

let clock = virtualClock();
beforeEach(() => {
  clock = virtualClock();
});
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A server that answers `connected` and each text, and a keeper of one connection to it that takes trades by name. */
async function startPair(
  connected: (client: SimClient) => void,
  channel: Partial<SocketChannel> = {},
  given: Clock = clock,
  onSource: (source: SocketConnection) => void = () => {},
): Promise<
  {
    keeper: SocketKeeper;
    sockets: ReturnType<typeof createSimSockets>;
    seen: string[];
    ready: () => number;
  } & ReturnType<typeof socketCounts>
> {
  const sockets = createSimSockets({ '/': { connected, closed: () => {}, message: () => {} } });
  const server = createServer();
  server.on('upgrade', sockets.upgrade);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const counts = socketCounts();
  const seen: string[] = [];
  let ready = 0;
  const onEvent = (event: SocketEvent, source: SocketConnection): void => {
    onSource(source);
    if (event.kind === 'trade') seen.push(event.ref);
  };
  const taking = { onEvent, onEnd: () => {} };
  const log = pino({ level: 'silent' });
  const deps = { platform: 'polymarket', clock: given, log, observer: counts, ...taking } as const;
  const whole: SocketChannel = {
    name: 'test',
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    marketsPerSocket: null,
    heartbeat: null,
    silentMs: 5000,
    quietMs: 5000,
    rotateMs: 3_600_000,
    bringsTrades: true,
    session: () => ({
      start() {},
      setMarkets() {},
      take(frame, emit) {
        if (!frame.startsWith('T')) throw new BadFrame('not a trade');
        emit({ kind: 'trade', ref: frame });
        return true;
      },
    }),
    ...channel,
  };
  const keeper = new SocketKeeper(deps, whole, [], { onReady: () => void (ready += 1) });
  closers.push(
    () => new Promise((resolve) => server.close(resolve)),
    async () => sockets.cut(),
    async () => {
      const stopped = keeper.stop();
      await clock.advance(1000);
      await stopped;
    },
  );
  return { keeper, sockets, seen, ready: () => ready, ...counts };
}

test('a server that says nothing, or stops saying anything, is left within its time', async () => {
  const { keeper, sockets, total } = await startPair((client) => client.raw('T1'));
  await clock.until(() => keeper.isLive, 1000);
  await clock.advance(4000);
  expect([sockets.accepted, total.reconnects]).toEqual([1, 0]);
  await clock.until(() => expect(sockets.accepted).toBe(2), 3000);
  expect(total.reconnects).toBe(1);
});

test('a connection to Polymarket that brings changes of markets and no book is left', async () => {
  const settings = { POLYMARKET_WS_URL: '', POLYMARKET_LIVE_URL: '' } as Parameters<typeof createPolymarketSockets>[0];
  const { channels } = createPolymarketSockets(settings);
  const { url: _, ...channel } = channels.find(({ name }) => name === 'market')!;
  const listed = JSON.stringify({
    event_type: 'new_market',
    market: `0x${'9'.repeat(64)}`,
    timestamp: '1789156497002',
  });
  const { keeper, sockets, total } = await startPair(
    (client) =>
      client.socket.once(
        'close',
        clock.every(1000, () => client.raw(listed)),
      ),
    { ...channel, heartbeat: null },
  );
  keeper.setMarkets([{ ref: `0x${'8'.repeat(64)}`, outcomes: [{ tokenId: '5' }, { tokenId: '6' }] } as StoredMarket]);
  await clock.until(() => expect(sockets.accepted).toBe(2), 30_000);
  expect(total).toMatchObject({ reconnects: 1, badFrames: 0 });
});

test('bad, binary and oversized frames are counted, and the good ones between them are read', async () => {
  const { keeper, sockets, seen, total } = await startPair((client) => {
    client.raw('T1');
    client.raw('garbage');
    client.socket.send(Buffer.from([1, 2, 3]));
    client.raw('T2');
  });
  await clock.until(() => expect(seen).toEqual(['T1', 'T2']));
  expect(total.badFrames).toBe(2);
  expect(keeper.isOpen).toBe(true);
  sockets.inject('T'.repeat(5 * 1024 * 1024));
  await clock.until(() => expect(total.badFrames).toBe(3));
  await clock.until(() => expect(sockets.accepted).toBe(2), 2000);
});

/** 999 levels of a side. */
const levels = (from: number) =>
  Array.from({ length: 999 }, (_level, n) => ({ price: `0.${String(from + n).padStart(4, '0')}`, size: '100000.01' }));

test('a first frame with every book of a connection to Polymarket is read, though all of them are deep', async () => {
  const settings = { POLYMARKET_WS_URL: '', POLYMARKET_LIVE_URL: '' } as Parameters<typeof createPolymarketSockets>[0];
  const { channels } = createPolymarketSockets(settings);
  const { url: _, ...channel } = channels.find(({ name }) => name === 'market')!;
  const books = Array.from({ length: 2 * channel.marketsPerSocket! }, (_book, n) => ({
    event_type: 'book',
    asset_id: String(n),
    market: `0x${'9'.repeat(64)}`,
    timestamp: '1789156497002',
    hash: 'x',
    bids: levels(1),
    asks: levels(5000),
  }));
  const frame = JSON.stringify(books);
  const { keeper, total } = await startPair((client) => client.raw(frame), { ...channel, heartbeat: null });
  await clock.until(() => expect(total.messages).toBe(1), 1000);
  expect(keeper.isOpen).toBe(true);
  expect(total.badFrames).toBe(0);
});

test('a flood does not stop the process, nor fill its memory', async () => {
  // How long the process takes is what is measured.
  const { sockets, total, seen } = await startPair((client) => client.raw('T1'), {}, systemClock);
  await clock.until(() => seen.length === 1);
  let longest = 0;
  let lookedAt = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - lookedAt);
    lookedAt = performance.now();
  }, 5);
  const text = `T${'x'.repeat(900)}`;
  for (let i = 0; i < 60; i += 1) {
    for (let n = 0; n < 1000; n += 1) sockets.inject(text);
    await systemClock.sleep(1);
  }
  await clock.until(() => expect(total.messages + total.reconnects * 20_000).toBeGreaterThan(20_000));
  clearInterval(timer);
  expect(longest).toBeLessThan(3000);
});

test('frames that were handled leave the memory, though others wait all the time', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heldMb = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  // Each look at the time takes 5 ms, so that the connection yields after two frames.
  let lookedMs = 0;
  const busy: Clock = { ...clock, elapsed: () => clock.elapsed() + (lookedMs += 5) };
  const text = `T${'x'.repeat(50_000)}`;
  let send: ((frame: string) => void) | undefined;
  let handled = 0;
  const held: number[] = [];
  const session = () => ({
    start() {},
    setMarkets() {},
    take() {
      handled += 1;
      if (handled === 100 || handled === 3900) held.push(heldMb());
      if (handled < 4000) send?.(text);
      return true;
    },
  });
  const { total } = await startPair(
    (client) => {
      send = (frame) => client.raw(frame);
      for (let n = 0; n < 200; n += 1) client.raw(text);
    },
    { session },
    busy,
  );
  await clock.until(() => expect(total.messages).toBeGreaterThan(4000));
  const [before = 0, after = Infinity] = held;
  // All handled frames are 190 MB.
  expect(after - before).toBeLessThan(100);
});

test('a server that ends each connection is asked ever less often, a refused key least', async () => {
  const cutting = await startPair((client) => client.socket.terminate());
  await clock.advance(30_000);
  // 1, 2, 4, 8 s …, each shortened by half at most.
  expect(cutting.sockets.accepted).toBeGreaterThan(2);
  expect(cutting.sockets.accepted).toBeLessThan(8);
  cutting.sockets.refuse = 401;
  await clock.advance(30_000);
  const { reconnects } = cutting.total;
  await clock.advance(59_000);
  expect(cutting.total.reconnects - reconnects).toBeLessThan(2);
});

test('a connection that the platform closes, because it is read too slowly, is opened again', async () => {
  const { keeper, sockets } = await startPair((client) => client.raw('T1'));
  await clock.until(() => keeper.isLive, 1000);
  sockets.cut(1013);
  await clock.until(() => expect(keeper.lostBecause).toBe('closed with 1013'));
  await clock.until(() => expect([sockets.accepted, keeper.isLive]).toEqual([2, true]), 2000);
});

test('a connection is replaced before it is old, without a moment between', async () => {
  let connections = 0;
  const { keeper, sockets, total, seen } = await startPair(
    (client) => {
      connections += 1;
      const name = `T${connections}`;
      client.socket.once(
        'close',
        clock.every(200, () => client.raw(name)),
      );
    },
    { rotateMs: 8000 },
  );
  await clock.until(() => expect(keeper.isLive).toBe(true), 5000);
  let dark = 0;
  const stop = clock.every(100, () => void (dark += keeper.isLive ? 0 : 1));
  await clock.until(() => expect(seen).toContain('T3'), 30_000);
  stop();
  expect(dark).toBe(0);
  expect(total.reconnects).toBe(0);
  await clock.until(() => expect(sockets.clients()).toHaveLength(1), 5000);
});

test('a replacement that is open when the old connection ends takes its place, and no third one is opened', async () => {
  const clients: SimClient[] = [];
  const { keeper, sockets, total, seen, ready } = await startPair(
    (client) => {
      clients.push(client);
      const name = `T${clients.length}`;
      client.socket.once(
        'close',
        clock.every(200, () => client.raw(name)),
      );
    },
    { rotateMs: 20_000 },
  );
  await clock.until(() => expect(seen).toContain('T2'), 30_000);
  clients[0]?.socket.close(1001);
  await clock.until(() => expect(total.reconnects).toBe(1), 1000);
  seen.splice(0);
  await clock.advance(10_000);
  expect([sockets.accepted, keeper.isLive, new Set(seen), ready()]).toEqual([2, true, new Set(['T2']), 2]);
  await clock.until(() => expect(seen).toContain('T3'), 20_000);
  expect(total.reconnects).toBe(1);
});

test('data that comes again after a break is announced, once each time', async () => {
  const { sockets, ready } = await startPair((client) => client.raw('T1'), { quietMs: null, silentMs: 600_000 });
  await clock.until(() => expect(ready()).toBe(1), 5000);
  sockets.cut();
  await clock.until(() => expect(ready()).toBe(2), 5000);
});

test('a connection that its session gives up is replaced', async () => {
  let failure: string | null = null;
  const session = () => ({ start() {}, setMarkets() {}, take: () => true, failure: () => failure });
  const { keeper, sockets } = await startPair((client) => client.raw('T1'), {
    silentMs: 600_000,
    quietMs: null,
    session,
  });
  await clock.until(() => expect(keeper.isLive).toBe(true), 5000);
  failure = 'no answer';
  await clock.until(() => expect(sockets.accepted).toBeGreaterThan(1), 5000);
  failure = null;
  await clock.until(() => expect(keeper.isLive).toBe(true), 5000);
});

test('how long a server may be silent is what it says itself, where it says it', async () => {
  const [soon, late] = await Promise.all(
    [200, 600_000].map((silentMs) =>
      startPair((client) => client.raw('T1'), {
        silentMs: silentMs === 200 ? 600_000 : 1,
        quietMs: null,
        session: () => ({ start() {}, setMarkets() {}, take: () => true, silentMs }),
      }),
    ),
  );
  await clock.until(() => expect(soon!.sockets.accepted).toBeGreaterThan(1), 5000);
  expect(late!.sockets.accepted).toBe(1);
});

test('a clock that jumps ends no connection', async () => {
  const { keeper, total } = await startPair((client) => client.raw('T1'), { quietMs: null, silentMs: 600_000 });
  await clock.until(() => expect(keeper.isLive).toBe(true), 5000);
  clock.correct(86_400_000);
  await clock.advance(60_000);
  clock.correct(-172_800_000);
  await clock.advance(60_000);
  expect(total.reconnects).toBe(0);
});

test('a keeper stops at once, also while its server does not answer', async () => {
  const { keeper } = await startPair((client) => client.socket.pause());
  await clock.until(() => expect(keeper.isOpen).toBe(true), 5000);
  let isStopped = false;
  const stopping = keeper.stop().then(() => (isStopped = true));
  await clock.until(() => isStopped, 1000);
  await stopping;
});

/** A session to which one frame alone is data. */
const readsOne: SocketChannel['session'] = () => ({
  start() {},
  setMarkets() {},
  take: (frame) => frame === 'T1',
});

test('a connection on which data came all the time, and comes no more, is replaced though it answers', async () => {
  const session = readsOne;
  const chatty = await startPair(
    (client) => {
      client.socket.once(
        'close',
        clock.every(400, () => client.send('T1')),
      );
      client.socket.once(
        'close',
        clock.every(500, () => client.raw('alive')),
      );
    },
    { quietMs: null, session },
  );
  const calm = await startPair(
    (client) => {
      client.raw('T1');
      client.socket.once(
        'close',
        clock.every(500, () => client.raw('alive')),
      );
    },
    { quietMs: null, session },
  );
  await clock.until(() => expect(chatty.keeper.isLive && calm.keeper.isLive).toBe(true), 5000);
  await clock.advance(30_000);
  chatty.sockets.frozen = true;
  await clock.until(() => expect(chatty.sockets.accepted).toBeGreaterThan(1), 60_000);
  expect(calm.sockets.accepted).toBe(1);
});

test('a replacement that is refused is tried again soon, while the old connection goes on', async () => {
  const { keeper, sockets, total } = await startPair((client) => client.raw('T1'), {
    quietMs: null,
    silentMs: 600_000,
    rotateMs: 30_000,
  });
  await clock.until(() => expect(keeper.isLive).toBe(true), 5000);
  sockets.refuse = 503;
  await clock.advance(35_000);
  sockets.refuse = null;
  await clock.until(() => expect(sockets.accepted).toBe(2), 20_000);
  expect(total.reconnects).toBe(0);
});

test('what a session sends later is due after a change of its markets and after a doubt, without a frame', async () => {
  const due: number[] = [];
  let connection: SocketConnection | undefined;
  const session = () => ({
    start() {},
    setMarkets() {},
    take(_frame: string, emit: (event: SocketEvent) => void) {
      emit({ kind: 'trade', ref: 'T' });
      return true;
    },
    doubt() {},
    settle: () => {
      due.push(clock.elapsed());
      return null;
    },
  });
  const { keeper } = await startPair(
    (client) => client.raw('T1'),
    { session },
    clock,
    (source) => {
      connection = source;
    },
  );
  await clock.until(() => expect(due).toHaveLength(1), 1000);
  keeper.setMarkets([]);
  await settle();
  expect(due).toHaveLength(2);
  connection?.doubt('T');
  await settle();
  expect(due).toHaveLength(3);
});

test('how long a frame was on its way is observed where the platform says when it sent it, never below 0', async () => {
  const session = {
    sentMs: undefined as number | undefined,
    start() {},
    setMarkets() {},
    take(frame: string) {
      this.sentMs = frame === 'T' ? undefined : Number(frame);
      return true;
    },
  };
  const sentMs = clock.now() - 1500;
  const { total } = await startPair(
    (client) => {
      for (const frame of [String(sentMs), 'T', String(clock.now() + 3_600_000)]) client.raw(frame);
    },
    { session: () => session },
  );
  await clock.until(() => expect(total.delays).toEqual([1.5, 0]));
});
