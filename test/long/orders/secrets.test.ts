import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { grantDefaultClients } from '../../../src/accounts/default-clients.ts';
import { credentials } from '../../../src/accounts/tables.ts';
import { startOrderStores } from '../../helpers/order-stores.ts';
import { startVenues, type Venue, type VenueMember } from '../../helpers/order-venues.ts';
import { startProcess } from '../../helpers/process.ts';
import { formsOf, leaksIn } from '../../helpers/secrets.ts';
import { type Answer, type Customer, startTrading } from '../../helpers/trading.ts';
import type { Fault } from '../../simulators/simulator.ts';

/** What travels in a request and proves who sends it. */
const PROOFS = /kalshi-access-signature|poly_signature|poly_passphrase|lmts-signature|0x[0-9a-f]{130}/i;
const FAULTS: readonly Omit<Fault, 'match' | 'times'>[] = [
  { kind: 'status', status: 400, body: '{"error":"invalid order","message":"invalid order"}' },
  { kind: 'status', status: 401, body: '{"error":"unauthorized"}' },
  { kind: 'status', status: 500, body: '<html>' },
  { kind: 'status', status: 201, body: 'created' },
  { kind: 'reset' },
  { kind: 'cut' },
  { kind: 'after' },
];

let venues: Venue[];
beforeAll(async () => {
  venues = await startVenues(11);
});
afterAll(() => Promise.all(venues.map(({ sim }) => sim.close())));

const settingsOf = (operator: Record<string, VenueMember<Venue['platform']>['fields']>): Record<string, string> => {
  const { kalshi, polymarket, limitless } = operator as Record<string, Record<string, string>>;
  return {
    KALSHI_API_KEY_ID: kalshi?.['api_key_id'] ?? '',
    KALSHI_PRIVATE_KEY: (kalshi?.['private_key'] ?? '').replaceAll('\n', String.raw`\n`),
    POLYMARKET_PRIVATE_KEY: polymarket?.['private_key'] ?? '',
    LIMITLESS_TOKEN_ID: limitless?.['token_id'] ?? '',
    LIMITLESS_SECRET: limitless?.['secret'] ?? '',
    LIMITLESS_PRIVATE_KEY: limitless?.['private_key'] ?? '',
  };
};

describe('the search for secrets', () => {
  const secret = 'Zm9yZWNhc3RsZSBmb3JlY2FzdGxlIGZvcmVjYXN0bGU=';
  test.each([
    ['as it is', secret],
    ['in hex', Buffer.from(secret).toString('hex')],
    ['in capital hex', Buffer.from(secret).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64 of a longer text', Buffer.from(`{"secret":"${secret}"}`).toString('base64')],
    ['in base64url of a longer text', Buffer.from(`?{"a":"${secret}"}`).toString('base64url')],
    ['as the bytes it stands for, in hex', Buffer.from(secret, 'base64').toString('hex')],
    ['as the bytes it stands for', Buffer.from(secret, 'base64').toString('latin1')],
  ])('finds one %s', (_, text) => {
    expect(leaksIn(`before ${text} after`, { secret })).toEqual(['secret']);
  });

  test('knows every line and the bytes of a PEM, and finds none where there is none', () => {
    const pem = venues[0]?.member().secrets()['Kalshi key'] ?? '';
    const forms = formsOf(pem);
    expect(forms).toContain(pem.split('\n')[1]);
    expect(leaksIn(forms.at(-1) ?? '', { pem })).toEqual(['pem']);
    expect(leaksIn('-----BEGIN PRIVATE KEY-----', { pem })).toEqual([]);
  });
});

test('no secret is in any answer, log line or row, whatever a platform answers', async () => {
  const operators = new Map(venues.map((venue) => [venue, venue.member()]));
  const fields = Object.fromEntries([...operators].map(([{ platform }, member]) => [platform, member.fields]));
  const env = Object.assign({}, ...venues.map(({ sim }) => sim.env), settingsOf(fields));
  const trading = await startTrading(env);
  try {
    const answers: Answer[] = [];
    const secrets: Record<string, string> = {};
    const use = async (customer: Customer, venue: Venue): Promise<void> => {
      let number = 0;
      const order = (change: object = {}) => ({ ...venue.order((number += 1), 'rests'), ...change });
      const name = `?platform=${venue.platform}`;
      answers.push(await customer.post('/orders', order({ dry_run: true })));
      answers.push(await customer.post('/orders', order({ idempotency_key: `${venue.platform}-1` })));
      const placed = await customer.post('/orders', order());
      expect(placed.status).toBe(201);
      answers.push(placed, await customer.delete(`/orders/${placed.body.order.order_id}${name}`));
      for (const fault of FAULTS) {
        venue.sim.inject({ match: venue.places, times: 1, ...fault });
        answers.push(await customer.post('/orders', order()));
      }
      answers.push(await customer.post('/orders', order({ price: 0.1234567 })));
      answers.push(await customer.post('/orders', order({ size: 100_000_000 })));
      answers.push(
        await customer.get(`/orders${name}`),
        await customer.post('/orders/cancel-all', { platform: venue.platform }),
      );
    };
    for (const venue of venues) {
      const member = venue.member();
      const [ann, bob] = [await trading.customer(), await trading.customer({ mayUseDefaultClients: true })];
      const id = await ann.credential(venue.platform, member.fields);
      await use(ann, venue);
      await use(bob, venue);
      // A row that does not open any more is logged with its error.
      const { db } = trading.service.postgres;
      await db.update(credentials).set({ sealed: 'AAAA' }).where(eq(credentials.id, id));
      const broken = await ann.post('/orders', venue.order(50, 'rests'));
      expect(broken.status).toBe(422);
      answers.push(broken);
      for (const [whose, one] of [
        ['own', member],
        ['operator', operators.get(venue)],
      ] as const) {
        for (const [what, secret] of Object.entries(one?.secrets() ?? {})) secrets[`${whose} ${what}`] = secret;
      }
    }
    expect(Object.keys(secrets)).toHaveLength(12);
    const read = async (text: string): Promise<string[]> => {
      const found = await trading.service.postgres.db.execute(sql.raw(text));
      return (found as unknown as { rows: { text: string }[] }).rows.map((row) => row.text);
    };
    const tables = await read("SELECT tablename AS text FROM pg_tables WHERE schemaname = 'public'");
    expect(tables).toContain('order_attempts');
    const rows: string[] = [];
    for (const table of tables) rows.push(...(await read(`SELECT to_jsonb(t)::text AS text FROM ${table} AS t`)));
    expect(rows.length).toBeGreaterThan(60);
    const log = trading.service.logged();
    expect(log).toContain('order');
    for (const text of [JSON.stringify(answers), rows.join('\n'), log]) {
      expect(leaksIn(text, secrets)).toEqual([]);
      expect(PROOFS.exec(text)).toBeNull();
    }
  } finally {
    await trading.close();
  }
});

test('nor in what a crashing service leaves behind: its output, its crash report, its files', async () => {
  const stores = await startOrderStores();
  try {
    const operators = venues.map((venue) => ({ venue, member: venue.member() }));
    const fields = Object.fromEntries(operators.map(({ venue, member }) => [venue.platform, member.fields]));
    const settings = settingsOf(fields);
    const env = { ...stores.env, ...Object.assign({}, ...venues.map(({ sim }) => sim.env)), ...settings };
    const { key } = await stores.within(async ({ db, customer }) => {
      const made = await customer();
      await grantDefaultClients(db, made.userId);
      return made;
    });
    const NODE_OPTIONS = `--report-uncaught-exception --report-directory=${stores.directory}`;
    const service = startProcess(
      'api',
      { ...env, LOG_LEVEL: 'trace', NODE_OPTIONS },
      {
        preload: ['../simulators/unmetered.ts', 'crash-on-signal.ts'],
      },
    );
    const url = await service.ready;
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const sent = operators.map(async ({ venue }) => {
      const place = (number: number) =>
        fetch(`${url}/v1/api/orders`, { method: 'POST', headers, body: JSON.stringify(venue.order(number, 'rests')) });
      expect((await place(1)).status).toBe(201);
      venue.sim.inject({ match: venue.places, times: 1, kind: 'hang' });
      await place(2).catch(() => {});
    });
    // Each has an order under way, its key in memory, when the process goes down.
    const under = (): boolean => operators.every(({ member }) => member.held().length === 1);
    for (let i = 0; i < 200 && !under(); i++) await sleep(50);
    await sleep(300);
    service.kill('SIGUSR2');
    expect(await service.ended).not.toBe(0);
    await Promise.all(sent);

    const secrets: Record<string, string> = { JWT_SECRET: stores.env['JWT_SECRET'] ?? '', 'API key': key };
    for (const { member } of operators) Object.assign(secrets, member.secrets());
    secrets['CREDENTIALS_KEY'] = (stores.env['CREDENTIALS_KEY'] ?? '').split(':')[1] ?? '';
    expect(service.output()).toContain('a defect');
    expect(leaksIn(service.output(), secrets)).toEqual([]);
    // The embedded PostgreSQL ends shortly after its parent, and removes its lock file as it does.
    const postgresEnded = (): boolean => !existsSync(join(stores.directory, 'postgresql/.s.PGSQL.5432.lock'));
    for (let i = 0; i < 200 && !postgresEnded(); i++) await sleep(50);
    const files = await readdir(stores.directory, { recursive: true, withFileTypes: true });
    const report = files.find(({ name }) => name.startsWith('report.'));
    expect(report).toBeDefined();
    for (const file of files.filter((one) => one.isFile())) {
      const path = join(file.parentPath, file.name);
      // The embedded ClickHouse ends after its parent too, and removes its temporary files.
      const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return Buffer.alloc(0);
        throw error;
      });
      expect([path, leaksIn(content, secrets)]).toEqual([path, []]);
    }
  } finally {
    await stores.close();
  }
});
