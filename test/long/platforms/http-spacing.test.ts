import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPlatformHttp } from '../../../src/platforms/http/client.ts';
import type { PlatformHttp, PlatformRequest } from '../../../src/platforms/http/request.ts';
import { createLocalShared } from '../../../src/stores/shared/local.ts';
import { silent } from '../../helpers/silent-log.ts';
import { type VirtualClock, virtualClock } from '../../helpers/virtual-clock.ts';
import { createRng, type Rng } from '../../simulators/lib/index.ts';

const SPACING_MS = 300;
const AT_ONCE = 2;
/** Longer than all calls of a test may take. */
const WITHIN_MS = 600_000;

let clock: VirtualClock;
beforeEach(() => {
  clock = virtualClock();
});
const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  vi.restoreAllMocks();
});

type Fault = 'none' | 'slow' | 'status' | 'cut' | 'hang' | 'reset';

/**
 * A platform that refuses what comes too soon or beside too many others, and fails on purpose. A new connection to it takes as long as
 * `connectMs` says: the look-up of its name stands for it.
 */
async function platform(faultOf: (n: number) => Fault, connectMs: () => number = () => 0) {
  const seen = { arrivals: [] as number[], refused: 0 };
  let lastAt = -Infinity;
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const now = clock.elapsed();
    seen.arrivals.push(now);
    const tooSoon = now - lastAt < SPACING_MS;
    lastAt = now;
    if (tooSoon || open.size >= AT_ONCE) {
      seen.refused++;
      response.writeHead(429).end('error code: 1015');
      return;
    }
    open.add(response);
    // It learns of a closed connection somewhat later.
    response.on('close', () => {
      if (response.writableFinished) open.delete(response);
      else clock.timeout(150, () => open.delete(response));
    });
    switch (faultOf(seen.arrivals.length)) {
      case 'none':
        return void response.end('{}');
      case 'slow':
        return void clock.timeout(250, () => response.end('{}'));
      case 'status':
        return void response.writeHead(500).end('{"message":"broken"}');
      case 'cut':
        response.writeHead(200, { 'content-length': 50 }).write('{"half":');
        return void clock.timeout(5, () => request.socket.destroy());
      case 'reset':
        return void request.socket.resetAndDestroy();
      case 'hang':
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(() => void server.close().closeAllConnections());
  vi.spyOn(dns, 'lookup').mockImplementation(((
    _name: string,
    _options: unknown,
    answer: (...given: unknown[]) => void,
  ) => {
    clock.timeout(connectMs(), () => answer(null, [{ address: '127.0.0.1', family: 4 }]));
  }) as unknown as typeof dns.lookup);
  return { url: `http://platform.test:${(server.address() as AddressInfo).port}`, seen };
}

/** Two processes that share their budgets. */
function processes(): [PlatformHttp, PlatformHttp] {
  const shared = createLocalShared(silent, clock);
  const open = (): PlatformHttp => {
    const client = createPlatformHttp({ shared, log: silent, clock });
    closers.push(() => clock.complete(client.close(), WITHIN_MS));
    return client;
  };
  return [open(), open()];
}

const call = (url: string, more: Partial<PlatformRequest> = {}): PlatformRequest => ({
  platform: 'limitless',
  group: 'limitless:all',
  method: 'GET',
  url,
  priority: 'poll',
  retry: true,
  timeoutMs: 600,
  ...more,
});
/** Lets time pass until all calls have ended, whatever came of them. */
const settled = (calls: Promise<unknown>[]): Promise<unknown> => clock.complete(Promise.allSettled(calls), WITHIN_MS);
const leastGap = (at: readonly number[]): number => Math.min(...at.slice(1).map((time, n) => time - (at[n] ?? 0)));

test('the spacing counts from the sending: a call that connects slowly holds back the next', async () => {
  const waits = [0, 220, 0, 180, 0, 0];
  // Each answer ends its connection, so that each call makes a new one.
  const { url, seen } = await platform(
    () => 'reset',
    () => waits.shift() ?? 0,
  );
  const clients = processes();
  await settled([0, 1, 2, 3, 4, 5].map((n) => clients[n % 2 === 0 ? 0 : 1].send(call(url, { retry: false }))));
  expect(seen.arrivals).toHaveLength(6);
  expect(leastGap(seen.arrivals)).toBeGreaterThanOrEqual(SPACING_MS);
  expect(seen.refused).toBe(0);
});

test('a call that was cancelled or timed out counts as in flight until its connection is closed', async () => {
  const { url, seen } = await platform((n) => (n <= 4 ? 'hang' : 'none'));
  const [client] = processes();
  const flying = [
    client.send(call(url, { retry: false, timeoutMs: 700 })),
    client.send(call(url, { retry: false, signal: clock.deadline(750) })),
  ];
  const waiting = [0, 1, 2, 3].map(() => client.send(call(url)));
  await settled([...flying, ...waiting]);
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200]);
  expect(seen.refused).toBe(0);
});

const FAULTS: readonly Fault[] = [
  'none',
  'none',
  'none',
  'none',
  'none',
  'slow',
  'slow',
  'status',
  'cut',
  'hang',
  'reset',
];
const PRIORITIES = ['live', 'poll', 'backfill'] as const;

/** One call, which its caller may give up at any moment. */
function randomCall(rng: Rng, url: string): PlatformRequest {
  const givesUp = rng.chance(0.4) ? { signal: clock.deadline(rng.int(0, 3000)) } : {};
  const method = rng.chance(0.2) ? 'POST' : 'GET';
  return call(url, { method, retry: method === 'GET', priority: rng.pick(PRIORITIES), ...givesUp });
}

test.each([11, 42, 1071])('no call is refused for its pace, whatever fails (seed %i)', async (seed) => {
  const rng = createRng(seed);
  const faults = rng.fork('faults');
  const connections = rng.fork('connections');
  const { url, seen } = await platform(
    () => faults.pick(FAULTS),
    () => connections.int(0, 250),
  );
  const clients = processes();
  await settled(Array.from({ length: 14 }, () => rng.pick(clients).send(randomCall(rng, url))));
  expect(seen.arrivals.length).toBeGreaterThan(6);
  expect(seen.refused).toBe(0);
});
