import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/core/log.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openPostgres, type Postgres } from '../../src/stores/postgres/client.ts';
import { insertKey } from '../helpers/app.ts';
import { freshDatabase } from '../helpers/databases.ts';
import { waitsInRealTime } from '../helpers/real-time.ts';

waitsInRealTime('several processes take leases and share budgets');

const { DATABASE_URL = '' } = process.env;
const KEYS = '/v1/api/auth/api-keys';
const PASSWORD = 'plum tree 42 on the hill';

/** Two processes of the service on one PostgreSQL and one Redis. */
describe('two processes', () => {
  let children: ChildProcess[] = [];
  let [left, right]: string[] = [];
  let postgres: Postgres;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await freshDatabase(DATABASE_URL);
    drop = database.drop;
    const env = { ...process.env, DATABASE: database.url, PREFIX: `test-${randomUUID()}:` };
    const program = new URL('../helpers/service-process.ts', import.meta.url);
    children = [0, 1].map(() => fork(program, { env, execArgv: ['--import', 'tsx'] }));
    const ports = await Promise.all(children.map((child) => once(child, 'message')));
    [left, right] = ports.map(([port]) => `http://127.0.0.1:${port}`);
    const config = loadConfig({ DATABASE_URL: database.url }, 'stores');
    postgres = await openPostgres(config, createLog({ LOG_LEVEL: 'silent' }));
  });
  afterAll(async () => {
    await postgres.close();
    await Promise.all(
      children.map(async (child) => {
        child.disconnect();
        await once(child, 'exit');
      }),
    );
    await drop();
  });

  test('let exactly 250 of 1,000 parallel requests of one user through, counted over two keys, the rest waiting for the same moment', async () => {
    const { userId, key } = await insertKey(postgres);
    const { key: second } = await insertKey(postgres, 'free', userId);
    const started = Date.now();
    const answers = await Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        const answer = await fetch(`${i % 2 ? left : right}/reset-password`, {
          headers: { 'x-api-key': i % 4 > 1 ? key : second },
        });
        await answer.arrayBuffer();
        return { status: answer.status, retryAfter: Number(answer.headers.get('retry-after')), at: Date.now() };
      }),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(250);
    expect(refused).toHaveLength(750);
    for (const { retryAfter, at } of refused) {
      expect(retryAfter).toBeLessThanOrEqual(60);
      // Nobody is asked to come back before the window ends, a minute after its first request.
      expect(at + retryAfter * 1000).toBeGreaterThanOrEqual(started + 60_000);
    }
  });

  test('one refuses a key that was revoked in the other within a second, a hundred times out of a hundred', async () => {
    const delays: number[] = [];
    for (let person = 0; person < 5; person++) {
      const from = { 'x-forwarded-for': `198.51.100.${person}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ email: `p${person}@example.com`, password: PASSWORD });
      const register = await fetch(`${left}/v1/api/auth/register`, { method: 'POST', headers: from, body });
      const cookie = register.headers
        .getSetCookie()
        .map((one) => one.split(';', 1)[0])
        .join('; ');
      for (let i = 0; i < 20; i++) {
        const made = await fetch(`${left}${KEYS}`, {
          method: 'POST',
          headers: { ...from, cookie },
          body: '{"name":"k"}',
        });
        const { id, key } = (await made.json()) as { id: string; key: string };
        const status = async (): Promise<number> => {
          const headers = { 'x-api-key': key, 'x-forwarded-for': `203.0.${person}.${i}` };
          return (await fetch(`${right}${KEYS}`, { headers })).status;
        };
        // 403: the key is known, and a session is needed here; 401: it is not known.
        expect(await status()).toBe(403);
        const ended = await fetch(`${left}${KEYS}/${id}`, { method: 'DELETE', headers: { ...from, cookie } });
        expect(ended.status).toBe(200);
        const revoked = performance.now();
        while ((await status()) !== 401) if (performance.now() - revoked > 5000) break;
        delays.push(performance.now() - revoked);
      }
    }
    expect(delays).toHaveLength(100);
    expect(Math.max(...delays)).toBeLessThan(1000);
  });

  test('make one account of parallel registrations with one e-mail', async () => {
    const body = JSON.stringify({ email: 'same@example.com', password: PASSWORD });
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${i}` };
        return (await fetch(`${i % 2 ? left : right}/v1/api/auth/register`, { method: 'POST', headers, body })).status;
      }),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 201 && status !== 409 && status !== 429)).toEqual([]);
  });
});
