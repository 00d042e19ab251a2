import { fork } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { credentialFields } from '../../src/platforms/manifests.ts';
import type { Platform } from '../../src/core/model.ts';
import { startOrderStores, type StoredCustomer } from '../helpers/order-stores.ts';
import { startVenues, type Venue } from '../helpers/order-venues.ts';
import { startProcess, UNMETERED } from '../helpers/process.ts';
import { createRng } from '../simulators/lib/index.ts';
import type { OrderLoad } from './order-load.ts';
import { quantile } from './quantile.ts';

const PER_SECOND = 50;
const ANSWER_MS = 100;
/** Enough that nobody has to wait for a limit of requests, the service's own or a platform's. */
const CUSTOMERS = 12;
const WARM_UP = 100;
/** Sizes come again: the accounts are not endless. */
const SIZES = 200;
const RELAYED = /^POST \/orders/;

/** Milliseconds; the platform's are from the request's arrival to its answer's last byte, in the same run. */
export interface OrderTimes {
  orders: number;
  oursP50: number;
  oursP99: number;
  platformP50: number;
  platformP99: number;
  /** What the service and both its connections add. */
  addedP50: number;
  addedP99: number;
}

export interface OrderBench {
  /** A relay in the service's place that does nothing else: what two connections and one more process take. */
  relay: OrderTimes;
  platforms: (OrderTimes & { platform: Platform })[];
}

/** Placements at 50 a second, through the service in a process of its own, at simulated platforms that take 100 ms. */
export async function benchOrders(seconds: number): Promise<OrderBench> {
  const [stores, venues] = await Promise.all([startOrderStores(), startVenues(5)]);
  const customers = await stores.within(async ({ credentials, customer }) => {
    const made = await Promise.all(Array.from({ length: CUSTOMERS }, () => customer()));
    for (const { userId } of made) {
      for (const { platform, member } of venues) {
        // As a user stores it: read by the form.
        await credentials.store(userId, platform, 'bench', credentialFields(platform).parse(member().fields), true);
      }
    }
    return made;
  });
  const [first] = venues;
  const relay = await benchRelay(planned(customers, first!, seconds * PER_SECOND));
  const env = { ...stores.env, ...Object.assign({}, ...venues.map(({ sim }) => sim.env)) };
  const service = startProcess('api', env, { program: UNMETERED });
  const platforms: OrderBench['platforms'] = [];
  try {
    const url = await service.ready;
    for (const venue of venues) {
      venue.sim.inject({ match: venue.places, times: Infinity, kind: 'slow', delayMs: ANSWER_MS });
      await load(url, planned(customers, venue, WARM_UP), venue.places);
      const times = await load(url, planned(customers, venue, seconds * PER_SECOND), venue.places);
      platforms.push({ platform: venue.platform, ...times });
    }
  } finally {
    service.kill('SIGTERM');
    await service.ended;
    await Promise.all(venues.map(({ sim }) => sim.close()));
    await stores.close();
  }
  return { relay, platforms };
}

/** The same orders, through a relay to a server that answers each with as much as a platform does. */
async function benchRelay(orders: OrderLoad['orders']): Promise<OrderTimes> {
  const answer = JSON.stringify({ order: 'x'.repeat(400) });
  const upstream = createServer((request, response) => {
    request.resume();
    setTimeout(() => response.writeHead(201, { 'content-type': 'application/json' }).end(answer), ANSWER_MS);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const relay = fork(new URL('order-relay.ts', import.meta.url));
  relay.send(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
  const [url] = (await once(relay, 'message')) as [string];
  await load(url, orders.slice(0, WARM_UP), RELAYED);
  const times = await load(url, orders, RELAYED);
  relay.kill();
  upstream.closeAllConnections();
  upstream.close();
  return times;
}

/** `count` orders at random moments, 50 a second on average. */
function planned(customers: StoredCustomer[], venue: Venue, count: number): OrderLoad['orders'] {
  const rng = createRng(count);
  let atMs = 0;
  return Array.from({ length: count }, (_, number) => {
    atMs += (-Math.log(1 - rng.next()) * 1000) / PER_SECOND;
    const order = { ...venue.order(number % SIZES, 'rests'), idempotency_key: `${venue.platform} ${count} ${number}` };
    return { atMs, key: customers[number % CUSTOMERS]?.key ?? '', body: JSON.stringify(order) };
  });
}

/** Sends orders at their moments, whether or not the earlier ones are answered. `places` are the requests of the platform that count. */
async function load(url: string, orders: OrderLoad['orders'], places: RegExp): Promise<OrderTimes> {
  const answering = watchAnswers(places);
  const client = fork(new URL('order-load.ts', import.meta.url));
  client.send({ url, orders } satisfies OrderLoad);
  const gone = once(client, 'exit').then(([code]) => [`by a client that ended with ${code}`]);
  const [ours] = (await Promise.race([once(client, 'message'), gone])) as [number[] | string];
  client.kill();
  const theirs = answering.end();
  if (typeof ours === 'string') throw new Error(`an order was answered ${ours}`);
  const [oursP50, oursP99] = [quantile(ours, 0.5), quantile(ours, 0.99)];
  const [platformP50, platformP99] = [quantile(theirs, 0.5), quantile(theirs, 0.99)];
  const added = { addedP50: oursP50 - platformP50, addedP99: oursP99 - platformP99 };
  return { orders: orders.length, oursP50, oursP99, platformP50, platformP99, ...added };
}

/** How long the platform, which runs in this process, takes for the requests that match. */
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
