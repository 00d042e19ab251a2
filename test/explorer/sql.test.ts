import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD } from '../helpers/browser.ts';
import { startWholeService, type WholeService } from '../helpers/whole-service.ts';

let whole: WholeService;
let cookie = '';
beforeAll(async () => {
  whole = await startWholeService({}, 'api');
  const body = JSON.stringify({ email: 'analyst@example.com', password: PASSWORD });
  const headers = { 'content-type': 'application/json' };
  const made = await fetch(`${whole.service.url}/v1/api/auth/register`, { method: 'POST', headers, body });
  cookie = made.headers.get('set-cookie')?.split(';')[0] ?? '';
});
afterAll(() => whole.close());

const run = (body: object, headers: Record<string, string> = { cookie }): Promise<Response> =>
  fetch(`${whole.service.url}/v1/api/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const keyThatTrades = async (): Promise<string> => {
  const made = await fetch(`${whole.service.url}/v1/api/auth/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ name: 'orders', scopes: ['trade'] }),
  });
  return ((await made.json()) as { key: string }).key;
};

test('answers rows as JSON without rounding them, or as a file of another format', async () => {
  const query = "SELECT toUInt64(18446744073709551615) AS n, toDecimal64('0.1234567891', 10) AS price";
  const answer = await run({ query });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(await answer.json()).toMatchObject({ data: [['18446744073709551615', '0.1234567891']], rows: 1 });
  expect(await (await run({ query, format: 'csv' })).text()).toBe('"n","price"\n18446744073709551615,0.1234567891\n');
  const parquet = await run({ query, format: 'parquet' });
  expect(parquet.headers.get('content-type')).toBe('application/vnd.apache.parquet');
  expect((await parquet.text()).slice(0, 4)).toBe('PAR1');
  const own = await run({ query: `${query} FORMAT CSV` });
  expect(own.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(await own.text()).toBe('18446744073709551615,0.1234567891\n');
  const many = (await (await run({ query: 'SELECT number FROM numbers(5000)' })).json()) as { rows: number };
  expect(many.rows).toBe(1000);
});

test('refuses what SQL_PORT refuses, in its words and the envelope', async () => {
  for (const query of [
    'SELECT * FROM markets',
    'DROP TABLE trades',
    "SELECT * FROM url('http://127.0.0.1/', CSV)",
    'SELEC',
  ]) {
    const answer = await run({ query });
    expect([query, answer.status]).toEqual([query, 400]);
    expect(await answer.json()).toMatchObject({
      error: { status: 400, error_text: expect.stringMatching(/^Code: \d+/) },
    });
  }
});

test('is for sessions of this site and for keys that may read: not for others, nor for another site', async () => {
  const query = 'SELECT 1';
  expect((await run({ query }, { 'x-api-key': whole.key })).status).toBe(200);
  expect((await run({ query }, { authorization: `Bearer ${await keyThatTrades()}` })).status).toBe(403);
  expect((await run({ query }, {})).status).toBe(401);
  expect((await run({ query }, { cookie, origin: 'https://elsewhere.example' })).status).toBe(403);
  expect((await run({ query }, { cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await run({ query }, { cookie, 'content-type': 'text/plain' })).status).toBe(415);
});

test('runs two statements of one user at once, no more', async () => {
  const slow = 'SELECT sum(sipHash64(number)) FROM numbers(10000000)';
  const answers = await Promise.all(Array.from({ length: 4 }, () => run({ query: slow })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429]);
  // They count until they were sent whole.
  await Promise.all(answers.map((answer) => answer.text()));
});

test('counts a file as a running statement until its last byte was read, or its reader is gone', async () => {
  // Its first rows come at once, and the last that it may have after half a minute.
  const slow = "SELECT repeat('x', 1000) AS text FROM numbers(100000000000) WHERE sipHash64(number) % 10000 = 0";
  const endless = { query: slow, format: 'csv' };
  const [file, other] = await Promise.all([run(endless), run(endless)]);
  expect([file?.status, other?.status]).toEqual([200, 200]);
  expect((await run({ query: 'SELECT 2' })).status).toBe(429);
  await file?.body?.cancel();
  await expect.poll(async () => (await run({ query: 'SELECT 3' })).status).toBe(200);
  await other?.body?.cancel();
});
