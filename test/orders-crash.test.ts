import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newApiKey } from '../src/key-format.ts';
import { startProcess } from './helpers/process.ts';
import type { Answer, AnsweredOrder } from './helpers/trading.ts';
import { createRng } from './simulators/lib/index.ts';
import { type KalshiWorld, type Member, startKalshi } from './simulators/kalshi.ts';
import type { Fault, Simulator } from './simulators/simulator.ts';

const KILLS = 4;
const ORDERS_PER_LIFE = 25;
const PLACE = /^POST .*\/portfolio\/events\/orders$/;
const FAULTS: readonly Omit<Fault, 'match' | 'times'>[] = [
  { kind: 'after' },
  { kind: 'reset' },
  { kind: 'cut' },
  { kind: 'hang' },
  { kind: 'slow', delayMs: 400 },
  { kind: 'status', status: 500, body: '' },
  { kind: 'status', status: 400, body: '{"error":{"code":"invalid_order","message":"invalid order"}}' },
];

let directory: string;
let sim: Simulator<KalshiWorld>;
let member: Member;
let ticker: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forecastle-orders-crash-'));
  sim = await startKalshi({ seed: 9, markets: 12, tradesPerMarket: 5 });
  sim.enforceLimits = false;
  member = sim.world.addAccount({ balance: '100000' });
  ticker = sim.world.createMarket('rate');
});
afterAll(async () => {
  await sim.close();
  await rm(directory, { recursive: true, force: true });
});

const order = (i: number): object => ({
  platform: 'kalshi',
  market_id: ticker,
  side: 'buy',
  outcome: 'yes',
  type: 'limit',
  price: 0.01,
  size: 1 + i / 100,
  client_order_id: `crash-${i}`,
  idempotency_key: `key-${i}`,
});

test(
  `${KILLS} kills and broken connections at random moments: no order twice, none lost, none told wrongly`,
  {
    timeout: 240_000,
  },
  async () => {
    const rng = createRng(3);
    const apiKey = newApiKey();
    const env = {
      DATA_DIR: directory,
      PLATFORMS: 'kalshi',
      DEMO_API_KEY: apiKey,
      KALSHI_API_KEY_ID: member.apiKeyId,
      KALSHI_PRIVATE_KEY: member.privateKeyPem,
      ...sim.env,
    };
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    /** null when the service died before it answered. */
    const send = async (url: string, i: number): Promise<Pick<Answer, 'status' | 'body'> | null> => {
      const body = JSON.stringify(order(i));
      const reply = await fetch(`${url}/v1/api/orders`, { method: 'POST', headers, body }).catch(() => null);
      return reply && { status: reply.status, body: (await reply.json()) as Answer['body'] };
    };
    const told = new Map<string, AnsweredOrder>();
    let next = 0;
    for (let life = 0; life < KILLS; life++) {
      const service = startProcess('api', env);
      const url = await service.ready;
      const killAtMs = 300 + Math.floor(rng.next() * 2500);
      const killed = sleep(killAtMs).then(() => service.kill('SIGKILL'));
      const sent: Promise<void>[] = [];
      for (let i = 0; i < ORDERS_PER_LIFE; i++, next++) {
        if (rng.chance(0.4))
          sim.inject({ match: PLACE, times: 1, ...(FAULTS[rng.int(0, FAULTS.length - 1)] ?? { kind: 'reset' }) });
        const key = next;
        sent.push(
          send(url, key).then((answer) => {
            if (answer?.status === 201) told.set(`crash-${key}`, answer.body.order);
          }),
        );
        await sleep(60);
      }
      await killed;
      await service.ended;
      await Promise.all(sent);
      sim.clearFaults();
    }

    const service = startProcess('api', env);
    const url = await service.ready;
    const list = async (query: string): Promise<AnsweredOrder[]> => {
      const reply = await fetch(`${url}/v1/api/orders?platform=kalshi&limit=200&${query}`, { headers });
      return ((await reply.json()) as Answer['body']).orders;
    };
    try {
      const known = new Map((await list('')).map((one) => [one.client_order_id, one]));
      const held = sim.world.ordersOf(member);
      expect(held.length).toBeGreaterThan(KILLS);
      expect(new Set(held.map(({ clientOrderId }) => clientOrderId)).size).toBe(held.length);
      for (const { clientOrderId, orderId } of held) {
        expect(known.get(clientOrderId)).toMatchObject({ order_id: orderId, status: 'open' });
      }
      const really = new Set(held.map(({ clientOrderId }) => clientOrderId));
      for (const [id, { order_id }] of told)
        expect(held.find((one) => one.clientOrderId === id)?.orderId).toBe(order_id);
      for (const [id, { status }] of known) if (!really.has(id)) expect(['unknown', 'rejected']).toContain(status);

      // Every request once more: what was claimed sends nothing, whatever became of it.
      for (let i = 0; i < next; i++) {
        const id = `crash-${i}`;
        if (!known.has(id)) continue;
        const again = await send(url, i);
        if (really.has(id)) {
          expect(again).toMatchObject({ status: 200, body: { order: { order_id: known.get(id)?.order_id } } });
        } else {
          expect(again?.status === 422 || again?.body.order.status === 'unknown').toBe(true);
        }
      }
      expect(sim.world.ordersOf(member)).toHaveLength(held.length);
      expect(service.output()).not.toContain('PRIVATE KEY');
    } finally {
      service.kill('SIGTERM');
      await service.ended;
    }
  },
);
