import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registered } from '../helpers/browser.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { describedEndpoints } from '../oracle/described-endpoints.ts';
import { BODIES, filledPath } from '../oracle/hostile.ts';

const BODY_BYTES = 64 * 1024;
/** The service reads 32 KiB of an address and headers together. */
const QUERY_BYTES = 31_000;
/** Five times what the dearest body takes on two quiet cores; a comparison of each name with each other takes 80 ms and more. */
const LOOP_MS = 25;
const ANSWER_BYTES = 16 * 1024;
const WARM_UP = 4;
const MOST_TRIES = 50;
const ENDPOINTS = await describedEndpoints();

let service: TestApp;
let key = '';
let cookie = '';
beforeAll(async () => {
  service = await startTestApp();
  cookie = [...(await registered(service)).cookies].map((pair) => pair.join('=')).join('; ');
});
afterAll(() => service.close());

/** As many items as fit, none the same. */
function filled(bytes: number, item: (i: number) => string, separator: string): string {
  const items: string[] = [];
  for (let length = 0, i = 0; ; i += 1) {
    const next = item(i);
    length += Buffer.byteLength(next) + separator.length;
    if (length > bytes) return items.join(separator);
    items.push(next);
  }
}
const object = (item: (i: number) => string): string => `{${filled(BODY_BYTES - 2, item, ',')}}`;
const nested = (open: string, close: string): string => {
  const levels = Math.floor(BODY_BYTES / (open.length + close.length)) - 2;
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
};

const HOSTILE_BODIES: Record<string, string> = {
  'thousands of short names': object((i) => `"${i.toString(36)}":1`),
  'names near the known ones': object((i) => `"emial${i}":1`),
  'names of forty characters': object((i) => `"${String(i).padStart(40, 'platform_id_')}":1`),
  'names that take six bytes a character': object(
    (i) => `"${String(i).padStart(70, '\u0001').replaceAll('\u0001', '\\u0001')}":1`,
  ),
  'values that take six bytes a character': object((i) => `"v${i}":"${'\\u0001'.repeat(150)}"`),
  'one name again and again': object((i) => `"email":${i}`),
  'lists that nest': nested('[', ']'),
  'an object that nests': nested('{"email":', '}'),
  'thousands of fields of a credential': `{"platform":"kalshi","label":"x","fields":{${filled(BODY_BYTES - 60, (i) => `"${i}":1`, ',')}}}`,
  'one long text in each field': object(
    (i) => `"${['email', 'password', 'name', 'label', 'market_id', 'size', 'price'][i] ?? i}":"${'pk_'.repeat(2500)}"`,
  ),
};
const HOSTILE_QUERIES: Record<string, string> = {
  'thousands of short names': filled(QUERY_BYTES, (i) => i.toString(36), '&'),
  'names near the known ones': filled(QUERY_BYTES, (i) => `limti${i}=1`, '&'),
  'one name again and again': filled(QUERY_BYTES, (i) => `limit=${i}`, '&'),
  'one alias again and again': filled(QUERY_BYTES, (i) => `start=${i}&from=-${i}`, '&'),
  'a list of ids': `provider=kalshi&market_ids=${filled(QUERY_BYTES - 40, String, ',')}`,
  'names that take six bytes a character': filled(
    QUERY_BYTES,
    (i) => `${'%01'.repeat(70)}${i}=${'%01'.repeat(100)}`,
    '&',
  ),
};

interface Cost {
  status: number;
  bytes: number;
  ms: number;
  text: string;
}

/** The time for which a request keeps the process busy, its sending here included: the least of as many tries as other processes disturb. */
async function cost(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: string): Promise<Cost> {
  let best = Infinity;
  for (let i = 0; ; i += 1) {
    if (i % 200 === 0) key = (await service.newKey('pro')).key;
    const headers = {
      'x-api-key': key,
      ...(BODIES[url]?.auth === 'session' ? { cookie } : {}),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const before = process.cpuUsage();
    const reply = await service.app.inject({
      method,
      url,
      headers,
      ...(payload === undefined ? {} : { payload }),
      remoteAddress: service.newAddress(),
    });
    const { user, system } = process.cpuUsage(before);
    if (i >= WARM_UP) best = Math.min(best, (user + system) / 1000);
    if (best < LOOP_MS || i === WARM_UP + MOST_TRIES)
      return { status: reply.statusCode, bytes: reply.rawPayload.length, ms: best, text: reply.body };
  }
}

const tooDear = (what: string, { status, bytes, ms }: Cost): string[] => [
  ...(status < 500 ? [] : [`${what}: ${status}`]),
  ...(ms < LOOP_MS ? [] : [`${what}: ${ms.toFixed(1)} ms`]),
  ...(bytes < ANSWER_BYTES ? [] : [`${what}: ${bytes} bytes`]),
];

describe('no caller stops the process', () => {
  test.each(Object.keys(BODIES))('by a body of 64 KB to %s', async (url) => {
    const { method = 'POST', fields = {} } = BODIES[url] ?? {};
    const found: string[] = [];
    const list = filled(BODY_BYTES - 100, String, ',');
    const lists = Object.keys(fields).map((name) => [`a long list as ${name}`, `{"${name}":[${list}]}`] as const);
    for (const [what, body] of [...Object.entries(HOSTILE_BODIES), ...lists]) {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(BODY_BYTES);
      found.push(...tooDear(what, await cost(method, url, body)));
    }
    expect(found).toEqual([]);
  });

  test.each(Object.keys(ENDPOINTS))('by a query to %s', async (path) => {
    const found: string[] = [];
    for (const [what, query] of Object.entries(HOSTILE_QUERIES))
      found.push(...tooDear(what, await cost('GET', `${filledPath(path, () => 'X')}?${query}`)));
    expect(found).toEqual([]);
  });
});

describe('of unknown fields', () => {
  const names = Array.from({ length: 25 }, (_, i) => `emial${i}`);

  test('the first twenty are named, each with the nearest known one, and the others counted', async () => {
    const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])));
    const { status, text } = await cost('POST', '/v1/api/auth/login', body);
    expect(status).toBe(400);
    const { message, error_text: said } = (JSON.parse(text) as { error: { message: string; error_text: string } })
      .error;
    for (const name of names.slice(0, 20)) {
      expect(said).toContain(`${name}: no such parameter (nearest: email)`);
      expect(message).toContain(name);
    }
    for (const name of names.slice(20)) expect(said).not.toContain(`${name}:`);
    expect(said).toContain('5 more unknown');
    // What else is wrong is said all the same.
    for (const name of ['email', 'password']) expect(said).toContain(`; ${name}: `);
  });

  test('of a query likewise', async () => {
    const { text } = await cost('GET', `/v1/api/markets?${names.map((name) => `${name}=1`).join('&')}`);
    const said = (JSON.parse(text) as { error: { error_text: string } }).error.error_text;
    expect(said.match(/no such parameter/g)).toHaveLength(20);
    expect(said).toContain('5 more unknown');
    expect(said).toContain('provider: ');
  });
});
