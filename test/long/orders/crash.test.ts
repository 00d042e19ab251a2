import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startOrderStores, type OrderStores, type StoredCustomer } from '../../helpers/order-stores.ts';
import { startVenues, type Fortune, type HeldOrder, type Venue, type VenueMember } from '../../helpers/order-venues.ts';
import { type ServiceProcess, UNMETERED } from '../../helpers/process.ts';
import { startProcessOfTest } from '../../helpers/process-of-test.ts';
import { leaksIn } from '../../helpers/secrets.ts';
import type { Answer, AnsweredOrder } from '../../helpers/trading.ts';
import { createRng } from '../../simulators/lib/index.ts';
import type { Fault } from '../../simulators/simulator.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('a service that does not answer in time is killed where it stands');

const ORDERS = Number(process.env['ORDERS'] ?? 160);
/** Lives of the service, each ended by SIGKILL; some starts are killed too, before they are ready. */
const LIVES = Math.ceil(ORDERS / 40);
const CUSTOMERS = 4;
/** A service that answers no more than this long is killed where it stands. */
const PATIENCE_MS = 2500;
/** Everything the test does follows from it; when things happen does not. */
const SEED = Number(process.env['ORDERS_SEED'] ?? 7);

type Spoiling = Omit<Fault, 'match' | 'times'>;
/** Before the order is taken, after it, and during the reply. */
const PLACING: readonly Spoiling[] = [
  { kind: 'reset' },
  { kind: 'status', status: 500, body: '' },
  { kind: 'status', status: 400, body: '{"error":"invalid order","message":"invalid order"}' },
  { kind: 'status', status: 403, body: '<html><title>Attention Required! | Cloudflare</title></html>' },
  { kind: 'status', status: 200, body: '{}' },
  { kind: 'hang' },
  { kind: 'after' },
  { kind: 'after' },
  { kind: 'cut' },
  { kind: 'cut' },
  { kind: 'slow', delayMs: 400 },
];
/** What the service reads before it signs, and what it looks up afterwards. */
const READING: readonly Spoiling[] = [{ kind: 'reset' }, { kind: 'cut' }, { kind: 'slow', delayMs: 300 }];

interface Step {
  number: number;
  venue: Venue;
  customer: StoredCustomer;
  body: { size: number; [field: string]: unknown };
  spoil: { what: Spoiling; where: RegExp } | null;
  /** The request to /orders/batch that it is part of; null for a request of its own. */
  batch: number | null;
  followUp: 'list' | 'cancel' | null;
  waitMs: number;
}
/** null when the service died before it answered. */
type Reply = Pick<Answer, 'status' | 'body'> | null;
interface Member {
  venue: Venue;
  customer: StoredCustomer;
  account: VenueMember<Venue['platform']>;
}

let stores: OrderStores;
let venues: Venue[];
let members: Member[];

beforeAll(async () => {
  [stores, venues] = await Promise.all([startOrderStores(), startVenues(SEED)]);
});
/** New ones each time that it is tried: idempotency keys and what is held belong to them. */
beforeEach(async () => {
  for (const { sim } of venues) sim.clearFaults();
  members = await stores.within(async ({ credentials, customer }) => {
    const made: Member[] = [];
    for (let i = 0; i < CUSTOMERS; i++) {
      const one = await customer();
      for (const venue of venues) {
        const account = venue.member();
        await credentials.store(one.userId, venue.platform, 'test', account.fields, true);
        made.push({ venue, customer: one, account });
      }
    }
    return made;
  });
});
afterAll(async () => {
  await Promise.all(venues.map(({ sim }) => sim.close()));
  await stores.close();
});

function plan(): Step[] {
  const root = createRng(SEED);
  return Array.from({ length: ORDERS }, (_, number) => {
    const rng = root.fork(`order ${number}`);
    // Of 25 orders in a row the first five are one request of one customer.
    const batch = number % 25 < 5 ? Math.floor(number / 25) : null;
    const owner = batch === null ? null : root.fork(`batch ${batch}`).pick(members).customer;
    const { venue, customer } = rng.pick(members.filter((one) => owner === null || one.customer === owner));
    const fortune: Fortune = rng.pick(['rests', 'rests', 'rests', 'fills', 'misses']);
    const reading = rng.chance(0.2);
    const spoil = { what: rng.pick(reading ? READING : PLACING), where: reading ? /^GET / : venue.places };
    return {
      number,
      venue,
      customer,
      body: {
        ...venue.order(number, fortune),
        idempotency_key: `key-${number}`,
        ...(rng.chance(0.3) ? { client_order_id: `mine-${number}` } : {}),
      },
      spoil: rng.chance(0.35) ? spoil : null,
      batch,
      followUp: batch !== null ? null : rng.chance(0.08) ? 'list' : rng.chance(0.15) ? 'cancel' : null,
      waitMs: rng.int(0, 50),
    };
  });
}

async function call(url: string, { key }: StoredCustomer, method: string, path: string, body?: object): Promise<Reply> {
  const headers = { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) };
  try {
    const reply = await fetch(`${url}/v1/api/orders${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: reply.status, body: (await reply.json()) as Answer['body'] };
  } catch {
    return null;
  }
}

const start = (): ServiceProcess =>
  startProcessOfTest('api', Object.assign({}, stores.env, ...venues.map(({ sim }) => sim.env)), { program: UNMETERED });

/** Everything a service knows of a customer's orders on a platform. */
async function listed(url: string, { venue, customer }: Member): Promise<AnsweredOrder[]> {
  const all: AnsweredOrder[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Reply = await call(url, customer, 'GET', `?platform=${venue.platform}&limit=200&cursor=${cursor}`);
    if (page?.status !== 200) throw new Error(`the list of ${venue.platform} answered ${JSON.stringify(page?.body)}`);
    all.push(...page.body.orders);
    cursor = page.body.pagination.next_cursor;
  }
  return all;
}

const placed = ({ status, filled_size }: AnsweredOrder): boolean =>
  ['open', 'partially_filled', 'filled', 'pending'].includes(status) || Number(filled_size) > 0;

/** Sizes that come more than once: each order has its own. */
const twice = (orders: HeldOrder[]): number[] =>
  orders.map(({ size }) => size).filter((size, at, sizes) => sizes.indexOf(size) !== at);

test(
  `${ORDERS} orders on three platforms, some in batches, through kills and faults: none twice, none lost, none reported wrongly`,
  { timeout: 600_000 },
  async () => {
    const steps = plan();
    const rng = createRng(SEED).fork('lives');
    const share = ORDERS / LIVES;
    const cuts = Array.from({ length: LIVES - 1 }, (_, i) => Math.round((i + 1) * share) + rng.int(-12, 12));
    const replies = new Map<number, Reply>();
    const outputs: ServiceProcess[] = [];
    let kills = 0;
    const kill = async (service: ServiceProcess): Promise<void> => {
      service.kill('SIGKILL');
      await service.ended;
      kills += 1;
    };

    const live = async (orders: Step[]): Promise<void> => {
      const service = start();
      outputs.push(service);
      const url = await service.ready;
      const running: Promise<void>[] = [];
      let answered = 0;
      const run = async ({ venue, customer, body, number, followUp }: Step): Promise<void> => {
        const reply = await call(url, customer, 'POST', '', body);
        replies.set(number, reply);
        answered += 1;
        const of = `platform=${venue.platform}`;
        if (followUp === 'list') await call(url, customer, 'GET', `?${of}`);
        if (followUp === 'cancel' && reply?.body.order)
          await call(url, customer, 'DELETE', `/${encodeURIComponent(reply.body.order.order_id)}?${of}`);
      };
      const runBatch = async (steps: Step[], customer: StoredCustomer): Promise<void> => {
        const reply = await call(url, customer, 'POST', '/batch', { orders: steps.map(({ body }) => body) });
        const { results = [] } = (reply?.body ?? {}) as unknown as {
          results?: (Answer['body'] & { status: number })[];
        };
        for (const [at, { number }] of steps.entries()) {
          const result = results[at];
          replies.set(number, result ? { status: result.status, body: result } : null);
          answered += 1;
        }
      };
      for (const [at, step] of orders.entries()) {
        if (step.spoil) step.venue.sim.inject({ match: step.spoil.where, times: 1, ...step.spoil.what });
        if (step.batch === null) running.push(run(step));
        else if (orders[at + 1]?.batch !== step.batch)
          running.push(
            runBatch(
              orders.filter(({ batch }) => batch === step.batch),
              step.customer,
            ),
          );
        await sleep(step.waitMs);
      }
      // So many are under way at least when it dies, however fast the machine.
      const left = rng.int(1, 10);
      for (const end = Date.now() + PATIENCE_MS; answered < orders.length - left && Date.now() < end;) await sleep(10);
      await kill(service);
      await Promise.all(running);
      for (const { sim } of venues) sim.clearFaults();
    };

    for (const [life, from] of [0, ...cuts].entries()) {
      if (rng.chance(0.2)) {
        const stillborn = start();
        outputs.push(stillborn);
        await sleep(rng.int(200, 1200));
        await kill(stillborn);
      }
      await live(steps.slice(from, cuts[life]));
    }
    expect(kills).toBeGreaterThanOrEqual(LIVES);

    const service = start();
    outputs.push(service);
    const url = await service.ready;
    try {
      const held = new Map(members.map((member) => [member, member.account.held()]));
      /** What differs between the platform's truth and what the service reports of it, in words. */
      const differences = async (): Promise<string[]> => {
        const found: string[] = [];
        for (const member of members) {
          const rows = await listed(url, member);
          const truth = held.get(member) ?? [];
          const at = (size: number): string => `${member.venue.platform} order of ${size}`;
          const ids = new Set(truth.map(({ orderId }) => orderId));
          for (const one of truth) {
            const same = rows.filter(({ order_id }) => order_id === one.orderId);
            const shown = same.map(({ status, filled_size, size }) => `${status} ${filled_size}/${size}`).join(', ');
            const wanted = `${one.status} ${one.filled}/${one.size}`;
            if (shown !== wanted) found.push(`${at(one.size)}: held ${wanted}, shown ${shown || 'nowhere'}`);
          }
          for (const row of rows)
            if (placed(row) && !ids.has(row.order_id)) found.push(`${at(row.size)}: shown ${row.status}, not held`);
        }
        return found;
      };
      let open = await differences();
      for (const end = Date.now() + 60_000; open.length > 0 && Date.now() < end; open = await differences())
        await sleep(500);
      expect(open).toEqual([]);

      const all = [...held.values()].flat();
      expect(all.length).toBeGreaterThan(ORDERS / 3);
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['open', 'filled', 'cancelled']));
      for (const orders of held.values()) expect(twice(orders)).toEqual([]);

      const orderOf = ({ venue, customer, body }: Step): HeldOrder | undefined => {
        const member = members.find((one) => one.venue === venue && one.customer === customer);
        return member && held.get(member)?.find(({ size }) => size === body.size);
      };
      for (const step of steps) {
        const reply = replies.get(step.number);
        const order = orderOf(step);
        if (reply?.body.order && placed(reply.body.order)) expect(order?.orderId).toBe(reply.body.order.order_id);
        // A refusal is a promise that nothing was placed.
        if (reply?.body.error) expect([reply.body.error, order]).toEqual([reply.body.error, undefined]);
      }

      // Every request once more, as a caller would who was never answered: what was claimed sends nothing.
      const before = new Map(steps.map((step) => [step, orderOf(step)]));
      for (let from = 0; from < ORDERS; from += 10) {
        await Promise.all(
          steps.slice(from, from + 10).map(async (step) => {
            const reply = await call(url, step.customer, 'POST', '', step.body);
            const order = before.get(step);
            if (order) {
              expect(reply).toMatchObject({ status: 200, body: { meta: { idempotent_replay: true } } });
              expect(reply?.body.order.order_id).toBe(order.orderId);
            }
          }),
        );
      }
      const secrets = members.flatMap(({ account }, i) =>
        Object.entries(account.secrets()).map(([what, secret]) => [`${what} ${i}`, secret]),
      );
      const written = outputs.map((one) => one.output()).join('\n');
      expect(leaksIn(written, Object.fromEntries(secrets) as Record<string, string>)).toEqual([]);
      for (const member of members) {
        const now = member.account.held();
        expect(twice(now)).toEqual([]);
        for (const order of held.get(member) ?? []) expect(now).toContainEqual(order);
      }
    } finally {
      service.kill('SIGTERM');
      await service.ended;
    }
  },
);
