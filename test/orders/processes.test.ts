import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOrderStores, type OrderStores } from '../helpers/order-stores.ts';
import { startVenues, type Venue } from '../helpers/order-venues.ts';
import { startProcess, type ServiceProcess, UNMETERED } from '../helpers/process.ts';
import type { Answer } from '../helpers/trading.ts';

const REQUESTS = 200;

let stores: OrderStores;
let venues: Venue[];
let services: ServiceProcess[];
let urls: string[];

beforeAll(async () => {
  [stores, venues] = await Promise.all([startOrderStores(), startVenues(3)]);
  const env = Object.assign({}, stores.env, ...venues.map(({ sim }) => sim.env));
  const first = startProcess('api', { ...env, DATA_DIR: join(stores.directory, 'a') }, { program: UNMETERED });
  await first.ready;
  const second = startProcess('api', { ...env, DATA_DIR: join(stores.directory, 'b') }, { program: UNMETERED });
  services = [first, second];
  urls = await Promise.all(services.map(({ ready }) => ready));
});
afterAll(async () => {
  for (const service of services) service.kill('SIGTERM');
  await Promise.all(services.map(({ ended }) => ended));
  await Promise.all(venues.map(({ sim }) => sim.close()));
  await stores.close();
});

// Needs servers that two processes share; idempotency.test.ts races two services within one.
test.each(['kalshi', 'polymarket', 'limitless'])(
  `${REQUESTS} parallel requests with one idempotency key over two processes place one order at %s and get the same answer`,
  async (platform) => {
    const venue = venues.find((one) => one.platform === platform);
    if (!venue) throw new Error('no such venue');
    const account = venue.member();
    const { key } = await stores.within(async ({ credentials, customer }) => {
      const made = await customer();
      await credentials.store(made.userId, venue.platform, 'test', account.fields, true);
      return made;
    });
    const body = JSON.stringify({ ...venue.order(1, 'rests'), idempotency_key: 'race' });
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, async (_, i) => {
        const reply = await fetch(`${urls[i % 2]}/v1/api/orders`, { method: 'POST', headers, body });
        return { status: reply.status, body: (await reply.json()) as Answer['body'] };
      }),
    );
    const [held, ...more] = account.held();
    expect(more).toEqual([]);
    expect(held).toMatchObject({ status: 'open' });
    const first = answers.filter(({ status }) => status === 201);
    expect(first).toMatchObject([{ body: { order: { order_id: held?.orderId }, meta: { idempotent_replay: false } } }]);
    for (const { status, body: reported } of answers) {
      expect(reported.order).toEqual(first[0]?.body.order);
      expect(reported.meta.idempotent_replay).toBe(status === 200);
    }
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(REQUESTS - 1);
  },
);
