import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { openShared } from '../../src/stores/shared/open.ts';
import { orderRig } from '../helpers/order-rig.ts';
import { silent } from '../helpers/silent-log.ts';
import type { Customer } from '../helpers/trading.ts';

/** As they stand in the path of a request: the service decodes them once. */
const HOSTILE = [
  '%2e%2e',
  '%252e%252e',
  '..%2f..%2fportfolio%2fbalance',
  'a%2f..%2fb',
  'a%2fb',
  '.',
  '..',
  '%2e%2e%2e',
  '%00',
  'a%00b',
  '%01%1f',
  'a%0d%0ab',
  '.%09.',
  '..%5c..',
  'a%3fb',
  'a%23b',
  'a%20b',
  '%C2%85',
];

const rig = orderRig(29);
let ann: Customer;

beforeAll(async () => {
  ann = await rig.trading.customer();
  for (const { platform, member } of rig.venues) await ann.credential(platform, member().fields);
});
beforeEach(() => {
  for (const { sim } of rig.venues) sim.requests.clear();
});
/** The status of a request whose path is sent as it stands. */
const raw = (method: 'GET' | 'DELETE', path: string, { key }: Customer): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { method, path: `/v1/api${path}`, headers: { 'x-api-key': key } };
    request(rig.origin, options, (reply) => resolve(reply.resume().statusCode ?? 0))
      .on('error', reject)
      .end();
  });
const askedOf = (): string[] => rig.venues.flatMap(({ sim }) => [...sim.requests.keys()]);

describe('an id that no platform can have given reaches no platform', () => {
  for (const id of HOSTILE) {
    test(`as the id of an order, in signed requests: ${id}`, async () => {
      for (const { platform } of rig.venues) {
        for (const method of ['GET', 'DELETE'] as const) {
          expect
            .soft([400, 404], `${method} ${platform}`)
            .toContain(await raw(method, `/orders/${id}?platform=${platform}`, ann));
        }
      }
      expect(askedOf()).toEqual([]);
    });

    test(`as the id of a market: ${id}`, async () => {
      // A customer of his own has requests left.
      const bob = await rig.trading.customer();
      for (const { platform } of rig.venues) {
        const named = `provider=${platform}`;
        const order = { platform, side: 'buy', outcome: 'yes', type: 'limit', price: 0.1, size: 10 };
        const paths = [
          `/markets/id/${id}?${named}`,
          `/markets/id/${id}/orderbook?${named}`,
          `/markets/price-history?${named}&market_ids=${id}&start_ts=1790000000&end_ts=1790086400`,
          `/metrics/snapshot?platform=${platform}&market_id=${id}`,
        ];
        for (const path of paths) expect.soft([400, 404], path).toContain(await raw('GET', path, bob));
        const { status } = await ann.post('/orders', { ...order, market_id: decodeURIComponent(id) });
        expect.soft([400, 404], platform).toContain(status);
      }
      expect(askedOf()).toEqual([]);
    });
  }
});

test('an id in the form of the platform is looked up there', async () => {
  for (const { platform, sim } of rig.venues) {
    const order = platform === 'polymarket' ? `0x${'ab'.repeat(32)}` : '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
    expect((await ann.get(`/orders/${order}?platform=${platform}`)).status).toBe(404);
    expect((await ann.get(`/markets/id/no-such-market-1?provider=${platform}`)).status).toBe(404);
    expect(sim.requests.size).toBeGreaterThan(1);
  }
});

describe('the last check before a request leaves', () => {
  const shared = openShared({ REDIS_URL: undefined }, silent, { clock: systemClock });
  const http = shared.then((opened) => createPlatformHttp({ shared: opened, log: silent, clock: systemClock }));
  afterAll(async () => {
    await (await http).close();
    await (await shared).close();
  });
  afterEach(() => expect(askedOf()).toEqual([]));

  const paths = [
    '/a/../b',
    '/a/..',
    '/./a',
    '/a/%2e%2E/b',
    '/a/.%2e',
    '/a/...?q=1',
    '/a\\..\\b',
    '/a/.\t./b',
    '/a\u0000',
  ];
  test.each(paths)('refuses a path that would be another one on the way: %j', async (path) => {
    for (const { platform } of rig.venues) {
      const [base = ''] = Object.values(rig.at(platform).sim.env);
      const request = { platform, group: 'limitless:all', method: 'GET', priority: 'live', retry: true } as const;
      await expect((await http).send({ ...request, url: `${base}${path}` })).rejects.toMatchObject({
        name: 'NotSentError',
        kind: 'refused',
      });
    }
  });
});
