import { fork } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Platform } from '../../src/schemas.ts';
import { startOrderStores, type StoredCustomer } from '../helpers/order-stores.ts';
import { startVenues, type Venue } from '../helpers/order-venues.ts';
import { startProcess } from '../helpers/process.ts';
import { createRng } from '../simulators/lib/index.ts';
import type { OrderLoad } from './order-load.ts';

const PER_SECOND = 50;
const ANSWER_MS = 100;
/** Enough that nobody has to wait for a limit of requests, the service's own or a platform's. */
const CUSTOMERS = 12;
const WARM_UP = 100;
/** Sizes come again: the accounts are not endless. */
const SIZES = 200;

/** Milliseconds; the platform's are from the request's arrival to its answer's last byte, in the same run. */
export interface OrderBench {
  platform: Platform;
  orders: number;
  oursP50: number;
  oursP99: number;
  platformP50: number;
  platformP99: number;
  /** What the service and both its connections add. */
  addedP50: number;
  addedP99: number;
}

/** Placements at 50 a second, through the service in a process of its own, at simulated platforms that take 100 ms. */
export async function benchOrders(seconds: number): Promise<OrderBench[]> {
  const [stores, venues] = await Promise.all([startOrderStores(), startVenues(5)]);
  const customers = await stores.within(async ({ credentials, customer }) => {
    const made = await Promise.all(Array.from({ length: CUSTOMERS }, () => customer()));
    for (const { userId } of made) {
      for (const venue of venues) await credentials.store(userId, venue.platform, 'bench', venue.member().fields, true);
    }
    return made;
  });
  const env = { ...stores.env, ...Object.assign({}, ...venues.map(({ sim }) => sim.env)) };
  const service = startProcess('api', env, ['unmetered.ts']);
  const url = await service.ready;
  const results: OrderBench[] = [];
  for (const venue of venues) {
    venue.sim.inject({ match: venue.places, times: Infinity, kind: 'slow', delayMs: ANSWER_MS });
    await load(url, customers, venue, WARM_UP);
    results.push(await load(url, customers, venue, seconds * PER_SECOND));
  }
  service.kill('SIGTERM');
  await service.ended;
  await Promise.all(venues.map(({ sim }) => sim.close()));
  await stores.close();
  return results;
}

/** `count` orders at random moments, 50 a second on average, whether or not the earlier ones are answered. */
async function load(url: string, customers: StoredCustomer[], venue: Venue, count: number): Promise<OrderBench> {
  const rng = createRng(count);
  let atMs = 0;
  const orders = Array.from({ length: count }, (_, number) => {
    atMs += (-Math.log(1 - rng.next()) * 1000) / PER_SECOND;
    const order = { ...venue.order(number % SIZES, 'rests'), idempotency_key: `${venue.platform} ${count} ${number}` };
    return { atMs, key: customers[number % CUSTOMERS]?.key ?? '', body: JSON.stringify(order) };
  });
  const answering = watchAnswers(venue.places);
  const client = fork(new URL('order-load.ts', import.meta.url));
  client.send({ url, orders } satisfies OrderLoad);
  const gone = once(client, 'exit').then(([code]) => [`by a client that ended with ${code}`]);
  const [ours] = (await Promise.race([once(client, 'message'), gone])) as [number[] | string];
  client.kill();
  const theirs = answering.end();
  if (typeof ours === 'string') throw new Error(`an order at ${venue.platform} was answered ${ours}`);
  const [oursP50, oursP99] = [quantile(ours, 0.5), quantile(ours, 0.99)];
  const [platformP50, platformP99] = [quantile(theirs, 0.5), quantile(theirs, 0.99)];
  const added = { addedP50: oursP50 - platformP50, addedP99: oursP99 - platformP99 };
  return { platform: venue.platform, orders: count, oursP50, oursP99, platformP50, platformP99, ...added };
}

/** How long the simulator, which runs in this process, takes for the requests that match. */
function watchAnswers(match: RegExp): { end(): number[] } {
  const since = new WeakMap<IncomingMessage, number>();
  const taken: number[] = [];
  const start = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (match.test(`${request.method} ${request.url}`)) since.set(request, performance.now());
  };
  const finish = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage; response: ServerResponse };
    const began = since.get(request);
    if (began !== undefined) taken.push(performance.now() - began);
  };
  subscribe('http.server.request.start', start);
  subscribe('http.server.response.finish', finish);
  return {
    end() {
      unsubscribe('http.server.request.start', start);
      unsubscribe('http.server.response.finish', finish);
      return taken;
    },
  };
}

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;
