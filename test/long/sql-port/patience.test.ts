import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RawConnection } from '../../fuzz/raw-connection.ts';
import { ACCOUNT, basic, insertTrades, SqlPortUnderTest } from '../../helpers/sql-port.ts';
import { waitsInRealTime } from '../../helpers/real-time.ts';

waitsInRealTime('queries and logins are cut off by time limits, and nobody waits long for others');

const ENDLESS = 'SELECT max(sipHash64(number)) FROM numbers(100000000000)';
/** Connections that say nothing. */
const SILENT = 600;

let port: SqlPortUnderTest;
beforeAll(async () => {
  port = await SqlPortUnderTest.start();
});
afterAll(() => port.close());

/** How long the answer took, ms. */
async function answers(sql: string, answer: string, init: RequestInit = {}): Promise<number> {
  const startedAt = performance.now();
  expect(await (await port.ask(sql, {}, init)).text()).toBe(answer);
  return performance.now() - startedAt;
}

const storedTrades = async (): Promise<number> => {
  const [row] = await port.store.sql<{ n: string }>('SELECT count() AS n FROM trades');
  return Number(row?.n);
};

it('two hundred analysts at once leave ingestion its pace, and every one of them is answered', async () => {
  const before = await storedTrades();
  const heavy = 'SELECT max(sipHash64(number)) FROM numbers(3000000)';
  const asked = Promise.all(
    Array.from({ length: 200 }, (_, i) => port.ask(`${heavy} WHERE number != ${i}`, { max_execution_time: '1' })),
  );
  asked.catch(() => {});
  const times: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    const startedAt = performance.now();
    await insertTrades(port.store, 100, `crowded${i}-`, Date.now() - i * 1_000_000);
    times.push(performance.now() - startedAt);
  }
  const codes = (await asked).map((reply) => reply.headers.get('x-clickhouse-exception-code') ?? 'answered');
  // Answered, out of time, or refused as too many are waiting.
  expect([...new Set(codes)].toSorted()).toEqual(expect.arrayContaining(['202', 'answered']));
  expect(codes.filter((code) => !['answered', '159', '202'].includes(code))).toEqual([]);
  // A poll comes every fifteen seconds.
  expect(times.toSorted((a, b) => b - a)[1]).toBeLessThan(3000);
  expect(await storedTrades()).toBe(before + 10 * 100);
});

it('a password comes within ten seconds, on a bounded number of connections, and shuts nobody out', async () => {
  const authorised = `GET /?query=SELECT+1 HTTP/1.1\r\nhost: x\r\nauthorization: ${basic(ACCOUNT.user, ACCOUNT.password)}\r\n\r\n`;
  const { hostname, port: number } = new URL(port.origin);
  const sockets: Socket[] = [];
  let open = 0;
  for (let i = 0; i < SILENT; i += 1) {
    const socket = connect(Number(number), hostname, () => socket.write('GET / HTTP/1.1\r\nx: '));
    socket.on('error', () => {});
    open += 1;
    socket.on('close', () => (open -= 1));
    sockets.push(socket);
    if (i % 100 === 99) {
      await sleep(100);
      await answers('SELECT 1', '1\n');
    }
  }
  await expect.poll(() => open).toBeLessThanOrEqual(256);
  const known = new RawConnection(Number(number));
  for (let i = 0; i < 6; i += 1) {
    expect((await known.ask(authorised, 5000)).status).toBe(200);
    await sleep(2000);
  }
  expect(open).toBe(0);
  expect((await known.ask(authorised, 5000)).status).toBe(200);
  known.close();
  for (const socket of sockets) socket.destroy();
});

it('a query that is given up frees its place', async () => {
  const leaving = new AbortController();
  const asked = Array.from({ length: 6 }, () => port.ask(ENDLESS, {}, { signal: leaving.signal }));
  await sleep(300);
  leaving.abort();
  await Promise.all(asked.map((one) => expect(one).rejects.toThrow('abort')));
  expect(await answers('SELECT 7', '7\n')).toBeLessThan(3000);
});

const as = (key: string) => ({ headers: { authorization: basic('anybody', key) } });

it('one key leaves a place to others, however many queries it sends', async () => {
  port.keys.add('pk_busy').add('pk_other');
  const leave = new AbortController();
  const codes: (string | null)[] = [];
  const heavy = Array.from({ length: 80 }, async (_, i) => {
    const init = { ...as('pk_busy'), signal: leave.signal };
    const whole = { wait_end_of_query: '1' };
    const reply = await port.ask(`${ENDLESS} WHERE number != ${i}`, whole, init).catch(() => null);
    if (reply) codes.push(reply.headers.get('x-clickhouse-exception-code'));
    await reply?.text();
  });
  await sleep(500);
  for (let i = 0; i < 10; i += 1) expect(await answers('SELECT 1', '1\n', as('pk_other'))).toBeLessThan(2000);
  // What may wait is bounded too: the others were refused at once.
  await expect.poll(() => codes.length).toBe(46);
  expect(new Set(codes)).toEqual(new Set(['202']));
  leave.abort();
  await Promise.all(heavy);
});

it('a query does not hold up the others by being hard to read', async () => {
  for (const hostile of [
    "'\\".repeat(30_000),
    '/*'.repeat(30_000),
    '`\\'.repeat(30_000),
    '$a$'.repeat(20_000),
    '{'.repeat(60_000),
    'corr('.repeat(13_000),
  ]) {
    const startedAt = performance.now();
    await (await port.ask(`SELECT ${hostile}`)).text();
    expect(performance.now() - startedAt, hostile.slice(0, 20)).toBeLessThan(1000);
  }
});
