import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inArray } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { users } from '../../../src/accounts/tables.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/embedded/postgres/supervisor.ts';
import { orders } from '../../../src/orders/tables.ts';
import { browser, newEmail, PASSWORD } from '../../helpers/browser.ts';
import { silent } from '../../helpers/silent-log.ts';
import { type AnsweredOrder, type Customer, startTrading, type Trading } from '../../helpers/trading.ts';
import { type KalshiWorld, type Member, startKalshi } from '../../simulators/kalshi.ts';
import type { Simulator } from '../../simulators/simulator.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('child processes are killed and time out');

const KILLS = 3;
const RECOVERS_WITHIN_MS = 5000;

let directory: string;
let server: EmbeddedPostgres;
let sim: Simulator<KalshiWorld>;
let trading: Trading;
let member: Member;
let ann: Customer;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'forecastle-pg-crash-'));
  server = await startEmbeddedPostgres({ dataDir: directory, log: silent, clock: systemClock });
  sim = await startKalshi({ seed: 5, markets: 12, tradesPerMarket: 5 });
  sim.enforceLimits = false;
  trading = await startTrading({ ...sim.env, DATABASE_URL: server.url });
  member = sim.world.addAccount({ balance: '100000' });
  ann = await trading.customer();
  await ann.credential('kalshi', { api_key_id: member.apiKeyId, private_key: member.privateKeyPem }, true);
});
afterAll(async () => {
  await trading.close();
  await sim.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

test('PostgreSQL killed under load: 503 meanwhile, back within 5 s, no acknowledged order or account lost, no order sent twice', async () => {
  const ticker = sim.world.createMarket('rate');
  const order = {
    platform: 'kalshi',
    market_id: ticker,
    side: 'buy',
    outcome: 'yes',
    type: 'limit',
    price: 0.01,
    size: 1,
  };
  const placed: AnsweredOrder[] = [];
  const accounts: string[] = [];
  const others: number[] = [];
  const stop = new AbortController();
  const ordering = async (): Promise<void> => {
    for (; !stop.signal.aborted; await sleep(10)) {
      const { status, body } = await ann.post('/orders', order);
      if (status === 201) placed.push(body.order);
      else others.push(status);
    }
  };
  const registering = async (): Promise<void> => {
    for (; !stop.signal.aborted; await sleep(50)) {
      const email = newEmail();
      const person = browser(trading.service);
      const { statusCode } = await person.post('/v1/api/auth/register', { email, password: PASSWORD });
      if (statusCode === 201) accounts.push(email);
      else others.push(statusCode);
    }
  };
  const load = [ordering(), ordering(), registering()];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = [placed, accounts].map((list) => list.length);
    const more = (): boolean => [placed, accounts].every((list, i) => list.length > (before[i] ?? 0) + 2);
    await vi.waitFor(() => expect(more()).toBe(true), { timeout: 20_000 });
    const refused = others.length;
    process.kill(server.pid() ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(others.length).toBeGreaterThan(refused), {
      timeout: RECOVERS_WITHIN_MS,
      interval: 10,
    });
    const atKill = placed.length;
    await vi.waitFor(() => expect(placed.length).toBeGreaterThan(atKill + 1), {
      timeout: RECOVERS_WITHIN_MS,
      interval: 10,
    });
  }
  stop.abort();
  await Promise.all(load);
  // 202: sent, and what became of it could not be stored in time; it is looked for.
  expect([...new Set(others)].toSorted()).toEqual(expect.arrayContaining([503]));
  expect(others.filter((status) => status !== 503 && status !== 202)).toEqual([]);
  const { db } = trading.service.postgres;
  const kept = await db.select({ email: users.email }).from(users).where(inArray(users.email, accounts));
  expect(kept.map(({ email }) => email).toSorted()).toEqual(accounts.toSorted());
  const rows = await db.select({ id: orders.orderId, client: orders.clientOrderId }).from(orders);
  const claims = rows.map(({ client }) => client);
  expect(claims).toEqual(expect.arrayContaining(placed.map((answered) => answered.client_order_id)));
  // One that was answered while its result could not be stored is claimed, and read from the platform.
  for (const { order_id: id } of placed.filter((answered) => !rows.some(({ id }) => id === answered.order_id)))
    expect(await ann.get(`/orders/${id}?platform=kalshi`)).toMatchObject({
      status: 200,
      body: { order: { order_id: id } },
    });
  // Each order at the platform was claimed here before, and is there once.
  const held = sim.world.ordersOf(member).map(({ clientOrderId }) => clientOrderId);
  expect(new Set(held).size).toBe(held.length);
  expect(claims).toEqual(expect.arrayContaining(held));
});
