import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registered } from '../../helpers/browser.ts';
import { describedEndpoints } from '../../oracle/described-endpoints.ts';
import {
  BODIES,
  type BodyEndpoint,
  filledPath,
  FREE_TEXT,
  isInPath,
  NO_JSON,
  NO_JSON_TYPES,
  NO_OBJECT,
  WRONG,
  WRONG_VALUES,
} from '../../oracle/hostile.ts';
import { eventually, type Pipeline, startPipeline } from '../../oracle/pipeline.ts';
import { startKalshi } from '../../simulators/kalshi.ts';
import { createRng } from '../../simulators/lib/rng.ts';
import { startLimitless } from '../../simulators/limitless.ts';
import { startPolymarket } from '../../simulators/polymarket.ts';

/** Parameters that begin and end a span of time. */
const SPANS = [
  ['start_ts', 'end_ts'],
  ['ends_after', 'ends_before'],
  ['from', 'to'],
] as const;
const ENDPOINTS = await describedEndpoints();
const WORLD = { seed: 8, markets: 24, tradesPerMarket: 30, historyDays: 3 };

interface Reply {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}
interface Ask {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  headers?: Record<string, string>;
  payload?: string | Buffer;
  remoteAddress?: string;
}

let service: Pipeline;
let simulators: Awaited<ReturnType<typeof startKalshi | typeof startPolymarket | typeof startLimitless>>[];
const users: Record<string, string> = {};
const markets: Record<string, string> = {};

beforeAll(async () => {
  const [kalshi, polymarket, limitless] = await Promise.all([
    startKalshi(WORLD),
    startPolymarket(WORLD),
    startLimitless(WORLD),
  ]);
  simulators = [kalshi, polymarket, limitless];
  for (const simulator of simulators) simulator.enforceLimits = false;
  users['kalshi'] =
    kalshi.world.trades.map(({ taker }) => taker).find((name) => kalshi.world.nicknames('public').includes(name)) ?? '';
  users['polymarket'] = polymarket.world.demoUser.address;
  service = await startPipeline(simulators, ['kalshi', 'polymarket', 'limitless']);
  const missing = await eventually(async () => {
    const absent: string[] = [];
    for (const platform of ['kalshi', 'polymarket', 'limitless']) {
      const { markets: found } = await service.get<{ markets: { platform_id: string }[] }>(
        `markets?provider=${platform}&sort=volume_total&limit=1`,
      );
      markets[platform] = found[0]?.platform_id ?? '';
      const { trades } = await service.get<{ trades: unknown[] }>(
        `trades/whales?platform=${platform}&min_size=0&limit=60`,
      );
      if (found.length === 0 || trades.length < 60) absent.push(platform);
    }
    return absent;
  });
  expect(missing).toEqual([]);
  await service.rest();
});
afterAll(async () => {
  await service?.close();
  await Promise.all((simulators ?? []).map((simulator) => simulator.close()));
});

let user = { key: '', left: 0 };
async function ask(url: string, { headers = {}, ...rest }: Ask = {}): Promise<Reply> {
  if (user.left === 0) user = { key: (await service.app.newKey('pro')).key, left: 480 };
  user.left -= 1;
  // Raw sockets come from this machine's own address: what is asked here is not counted with theirs.
  const remoteAddress = '10.255.0.1';
  const given = { remoteAddress, headers: { 'x-api-key': user.key, ...headers }, ...rest };
  const reply = await service.app.app.inject({ url, ...given });
  return { status: reply.statusCode, headers: reply.headers, text: reply.body };
}

const urlOf = (path: string, values: readonly (readonly [string, string])[]): string => {
  const own = filledPath(path, (wanted) =>
    encodeURIComponent(values.find(([name]) => name === wanted)?.[1] ?? ENDPOINTS[path]?.[wanted]?.good ?? ''),
  );
  const query = values.filter(([name]) => !isInPath(path, name));
  return `${own}?${query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`;
};
const goodValues = (path: string): [string, string][] =>
  Object.entries(ENDPOINTS[path] ?? {}).flatMap(([name, { good }]) => (good === undefined ? [] : [[name, good]]));

/** Words of code, stores and their errors, which no error may hold. */
const INSIDE =
  /DB::|ClickHouse|sipHash|PostgreSQL|drizzle|ZodError|node_modules|\.ts:\d|\bat \w+[\w.]* \(|syntax error|\bFINAL\b/i;

const EVERY_ANSWER = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-content-type-options'];

/** What is wrong with an answer; `fields` are those that a 400 has to name, all of them and no other. */
function faults(asked: string, reply: Reply, status: number | readonly number[], fields?: readonly string[]): string[] {
  const say = (what: string): string => `${asked.slice(0, 160)} → ${reply.status}: ${what}`;
  const found: string[] = [];
  if (![status].flat().includes(reply.status)) found.push(say(`not ${String(status)}, ${reply.text.slice(0, 300)}`));
  for (const name of EVERY_ANSWER) if (!(name in reply.headers)) found.push(say(`no ${name}`));
  if ('set-cookie' in reply.headers) found.push(say('sets a cookie'));
  if (reply.status < 400) return found;
  if (INSIDE.test(reply.text)) found.push(say(`shows internals: ${INSIDE.exec(reply.text)?.[0]}`));
  let error: Record<string, unknown> = {};
  try {
    const body = JSON.parse(reply.text) as { error: Record<string, unknown> };
    error = body.error;
    if (Object.keys(body).join() !== 'error') found.push(say('more than the envelope'));
  } catch {
    return [...found, say(`no JSON: ${reply.text.slice(0, 100)}`)];
  }
  if (Object.keys(error).toSorted().join() !== 'error_text,message,resolution,status') found.push(say('other fields'));
  if (error['status'] !== reply.status || error['message'] === '' || error['resolution'] === '') {
    found.push(say(`envelope ${JSON.stringify(error).slice(0, 200)}`));
  }
  if (fields) {
    const named = String(error['message']).replace('Invalid request: ', '').split(', ').toSorted();
    if (named.join() !== fields.toSorted().join()) found.push(say(`names ${named.join()}, not ${fields.join()}`));
    const unsaid = fields.filter((name) => !String(error['error_text']).includes(`${name}: `));
    if (unsaid.length > 0) found.push(say(`does not explain ${unsaid.join()}`));
  }
  return found;
}

/** What a part of a path cannot say: it would be another path, or none. */
const fits = (path: string, name: string, value: string): boolean =>
  !isInPath(path, name) || (!['', '.', '..'].includes(value) && encodeURIComponent(value).length < 1024);

describe.each(Object.keys(ENDPOINTS))('%s', (path) => {
  const parameters = Object.entries(ENDPOINTS[path] ?? {});

  test('takes what is right', async () => {
    const url = urlOf(path, goodValues(path));
    expect(faults(url, await ask(url), [200, 404])).toEqual([]);
  });

  test('refuses each wrong value of each parameter by its name', async () => {
    const found: string[] = [];
    for (const [name, { kind }] of parameters) {
      for (const wrong of WRONG[kind].filter((value) => fits(path, name, value))) {
        const url = urlOf(path, [...goodValues(path).filter(([other]) => other !== name), [name, wrong]]);
        found.push(...faults(url, await ask(url), 400, [name]));
      }
    }
    expect(found.slice(0, 10)).toEqual([]);
  });

  test('names all that is wrong at once, what is missing too', async () => {
    const query = parameters.filter(([name]) => !isInPath(path, name));
    const all = urlOf(
      path,
      query.map(([name, { kind }]) => [name, kind === 'search' ? 'x'.repeat(201) : '\0'] as const),
    ).replaceAll(/(market_ids?|query|event_id|series_id|category|user|outcome)=%00/g, '$1=');
    const required = query.filter(([, { required: must }]) => must).map(([name]) => name);
    const nothing = urlOf(path, []);
    expect([
      ...faults(
        all,
        await ask(all),
        400,
        query.map(([name]) => name),
      ),
      ...(required.length > 0 ? faults(nothing, await ask(nothing), 400, required) : []),
    ]).toEqual([]);
  });

  const spans = SPANS.filter(([from, to]) => from in (ENDPOINTS[path] ?? {}) && to in (ENDPOINTS[path] ?? {}));
  if (spans.length > 0)
    test('refuses a span that ends before it begins, and says so beside what else is wrong', async () => {
      const found: string[] = [];
      for (const [from, to] of spans) {
        const rest = goodValues(path).filter(([name]) => name !== from && name !== to);
        const url = urlOf(path, [...rest, [from, '2026-11-20'], [to, '2026-11-19'], ['nothing', '1']]);
        const reply = await ask(url);
        found.push(...faults(url, reply, 400, [from, 'nothing']));
        if (!reply.text.includes('2026-11-19')) found.push(`${url}: does not say what it received`);
      }
      expect(found).toEqual([]);
    });

  test('refuses what it does not know and what is said twice', async () => {
    const found: string[] = [];
    for (const name of [
      'limit[]',
      'provider[0]',
      'a.b',
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'LIMIT',
      'x\0y',
      "a' OR 1=1",
      '%',
      '\r\nx: y',
      '😀',
      '$where',
    ]) {
      const url = urlOf(path, [...goodValues(path), [name, "1' OR 1=1"]]);
      found.push(...faults(url, await ask(url), 400, [name]));
    }
    for (const [name, { good }] of parameters.filter(([other]) => !isInPath(path, other))) {
      if (good === undefined) continue;
      const url = urlOf(path, [...goodValues(path), [name, `${good}0`]]);
      found.push(...faults(url, await ask(url), 400, [name]));
    }
    expect(found).toEqual([]);
  });

  test('takes any words where words are free, and finds nothing by them', async () => {
    const kinds = new Set(['text', 'shortText', 'marketId', 'marketIds', 'manyIds']);
    const free = parameters.filter(([, { kind, good }]) => kinds.has(kind) && good !== undefined);
    const found: string[] = [];
    for (const [name] of free) {
      for (const words of FREE_TEXT.filter((value) => fits(path, name, value))) {
        const url = urlOf(path, [...goodValues(path).filter(([other]) => other !== name), [name, words]]);
        found.push(...faults(url, await ask(url), [200, 404]));
      }
    }
    expect(found.slice(0, 10)).toEqual([]);
  });

  test('takes broken percent-encoding for what it says, or refuses it', async () => {
    const found: string[] = [];
    for (const broken of ['%', '%zz', '%E0%A4%A', '%ff', '%C0%80', '%ED%A0%80', '%F5%80%80%80', 'é', '😀']) {
      const url = urlOf(path, goodValues(path));
      for (const [name] of parameters.filter(([other]) => !isInPath(path, other))) {
        const text = `${url.replace(new RegExp(`([?&]${name}=)[^&]*`), `$1${broken}`)}`;
        found.push(...faults(text, await ask(text), [200, 400, 404]));
      }
      if (path.includes('{')) {
        const text = filledPath(path, () => `x${broken}`);
        // A path that names no route counts by address.
        const from = { remoteAddress: service.app.newAddress() };
        found.push(...faults(text, await ask(`${text}?provider=kalshi`, from), [400, 404]));
      }
    }
    expect(found.slice(0, 10)).toEqual([]);
  });

  test('has only its own methods', async () => {
    const found: string[] = [];
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const url = urlOf(path, goodValues(path));
      const reply = await ask(url, { method, headers: { 'content-type': 'application/json' }, payload: '{"a":1}' });
      found.push(...faults(`${method} ${url}`, reply, 405));
      if (reply.headers['allow'] !== 'GET, HEAD')
        found.push(`${method} ${url}: allow ${String(reply.headers['allow'])}`);
    }
    expect(found).toEqual([]);
  });
});

describe.each(Object.entries(BODIES))('the body of %s', (url, { method, auth, fields }: BodyEndpoint) => {
  const good = Object.fromEntries(
    Object.entries(fields).flatMap(([name, { good: value }]) => (value === undefined ? [] : [[name, value] as const])),
  );
  const required = Object.keys(fields).filter((name) => fields[name]?.required);
  let cookie = '';
  beforeAll(async () => {
    const person = auth === 'session' ? await registered(service.app) : null;
    if (person) cookie = [...person.cookies].map((pair) => pair.join('=')).join('; ');
  });
  /** Sends it as whom the endpoint serves; addresses that nobody used before never reach their limit. */
  const send = (payload: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    ask(url, {
      method,
      payload,
      headers: { ...headers, ...(auth === 'session' ? { cookie, 'x-api-key': '' } : {}) },
      remoteAddress: service.app.newAddress(),
    });
  /** JSON of the good body with one field, as JSON text, instead of its own. */
  const withField = (name: string, json: string): string =>
    `{${[...Object.entries(good).filter(([other]) => other !== name), [name, null] as const]
      .map(([key, value]) => `${JSON.stringify(key)}:${key === name ? json : JSON.stringify(value)}`)
      .join(',')}}`;
  const about = (what: string | Buffer): string => `${method} ${url} ${String(what).slice(0, 60)}`;

  test('is JSON, and an object', async () => {
    const found: string[] = [];
    for (const text of NO_JSON) {
      const reply = await send(text);
      found.push(...faults(about(text), reply, 400));
      if (typeof text === 'string' && !reply.text.includes('body: ')) found.push(`${about(text)}: ${reply.text}`);
    }
    for (const text of NO_OBJECT) found.push(...faults(about(text), await send(text), 400, ['body']));
    for (const nothing of ['', 'null', '{}']) {
      found.push(...faults(about(nothing), await send(nothing), required.length > 0 ? 400 : 200, required));
    }
    expect(found.slice(0, 10)).toEqual([]);
  });

  test('says that it is JSON, and is of no more than 64 KiB', async () => {
    const found: string[] = [];
    for (const type of NO_JSON_TYPES) {
      found.push(...faults(about(type), await send(JSON.stringify(good), { 'content-type': type }), 415));
    }
    found.push(...faults('no type', await send(JSON.stringify(good), {}), 415));
    for (const bytes of [64 * 1024 + 1, 1024 * 1024]) {
      found.push(...faults(`${bytes} bytes`, await send(`"${'x'.repeat(bytes - 2)}"`), 413));
    }
    const lies = { 'content-type': 'application/json', 'content-length': '99999999' };
    found.push(...faults('a length that is none', await send('{}', lies), 413));
    expect(found).toEqual([]);
  });

  test('names each field of a wrong type or value, and all of them at once', async () => {
    const found: string[] = [];
    for (const [name, { kind }] of Object.entries(fields)) {
      for (const json of WRONG_VALUES[kind]) {
        const text = withField(name, json);
        found.push(...faults(about(`${name} ${json}`), await send(text), 400, [name]));
      }
    }
    const names = Object.keys(fields);
    const all = `{${names.map((name) => `"${name}":${fields[name]?.kind === 'orders' ? '5' : '[{}]'}`).join(',')}}`;
    // A list is right as such, and its first element is not.
    const wrong = names.map((name) => (fields[name]?.kind === 'list' ? `${name}.0` : name));
    found.push(...faults(about(all), await send(all), 400, wrong));
    expect(found.slice(0, 10)).toEqual([]);
  });

  test('has no other fields', async () => {
    const found: string[] = [];
    for (const name of [
      'constructor',
      'toString',
      'hasOwnProperty',
      'isAdmin',
      'user_id',
      'a.b',
      '$where',
      'x\0y',
      '😀',
    ]) {
      const text = withField(name, '{"prototype":1}');
      const expected = name === 'constructor' ? undefined : [name];
      found.push(...faults(about(text), await send(text), 400, expected));
    }
    expect(found).toEqual([]);
  });
});

test('of a field that a body says twice the last counts', async () => {
  const headers = { 'content-type': 'application/json' };
  const refused = await ask('/v1/api/orders/cancel-all', {
    method: 'POST',
    headers,
    payload: '{"platform":"kalshi","platform":"nowhere"}',
  });
  expect(faults('twice', refused, 400, ['platform'])).toEqual([]);
});

describe('headers', () => {
  const URL = '/v1/api/markets?provider=kalshi&limit=1';

  test('that name no key are refused', async () => {
    const real = (await service.app.newKey()).key;
    const wrong = [
      '',
      ' ',
      'null',
      'x'.repeat(8000),
      `${real}x`,
      real.toUpperCase(),
      real.slice(0, -1),
      "' OR 1=1",
      'é',
    ];
    const found: string[] = [];
    for (const key of wrong)
      found.push(...faults(`x-api-key ${key}`, await ask(URL, { headers: { 'x-api-key': key } }), 401));
    for (const value of [
      'Bearer',
      'Bearer x y',
      `Basic ${real}`,
      `Bearer${real}`,
      `Bearer ${real}x`,
      'x'.repeat(8000),
    ]) {
      const { app } = service.app;
      const remoteAddress = service.app.newAddress();
      const reply = await app.inject({ url: URL, headers: { authorization: value }, remoteAddress });
      found.push(
        ...faults(
          `authorization ${value}`,
          { status: reply.statusCode, headers: reply.headers, text: reply.body },
          401,
        ),
      );
    }
    const two = await ask(URL, { headers: { 'x-api-key': real, authorization: `Bearer ${real}x` } });
    found.push(...faults('two keys', two, 400, ['X-API-Key']));
    expect(found).toEqual([]);
  });

  test('of other kinds do no harm, whatever they say', async () => {
    const long = 'x'.repeat(8000);
    const odd: [string, string[]][] = [
      ['cookie', ['jwt=', 'jwt=x.y.z', 'jwt=eyJhbGciOiJub25lIn0.e30.', ';;=;=', `jwt=${long}`, 'jwt=%00%zz']],
      ['accept', ['garbage', '*/*;q=x', 'text/html, */*', ';;;', 'application/json;q=-1', long]],
      ['accept-encoding', ['garbage', 'br;q=9, gzip;q=-1,,', ';', long]],
      ['if-none-match', ['W/', '"', ','.repeat(3000), long]],
      ['if-modified-since', ['yesterday']],
      ['range', ['bytes=0-1', 'bytes=-1', 'x']],
      ['content-type', ['garbage', long]],
      ['x-request-id', [long, 'a b', '<script>']],
      ['x-forwarded-for', ["' OR 1=1", '::1', long]],
      ['host', ['garbage/..', 'x:99999', '[::']],
      ['origin', ['null', 'x', '://']],
      ['traceparent', [long]],
    ];
    const found: string[] = [];
    for (const [name, values] of odd) {
      for (const value of values) {
        const reply = await ask(URL, { headers: { [name]: value } });
        found.push(...faults(`${name} ${value}`, reply, 200));
        if (String(reply.headers['x-request-id']).length > 64) found.push(`${name}: our id is ${value}`);
      }
    }
    expect(found).toEqual([]);
  });
});

const urlWith = (path: string, query: string, cursor = ''): string => {
  const end = path.includes('/profile/')
    ? users[query.includes('kalshi') ? 'kalshi' : 'polymarket']
    : markets['kalshi'];
  return `${path}?${query}${query.endsWith('=') ? end : ''}&limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
};

const first = async (path: string, query: string): Promise<string> => {
  const { pagination } = JSON.parse((await ask(urlWith(path, query))).text) as {
    pagination: { next_cursor: string | null };
  };
  return pagination.next_cursor ?? '';
};

describe('cursors', () => {
  const lists: [string, string][] = [
    ['/v1/api/markets', 'provider=kalshi'],
    ['/v1/api/trades/whales', 'min_size=0'],
    ['/v1/api/trades/whales', 'min_size=0&sort=size&platform=polymarket'],
    ['/v1/api/markets/trades', 'provider=kalshi&market_id='],
    ['/v1/api/profile/trades', 'provider=polymarket&user='],
    ['/v1/api/profile/positions', 'provider=polymarket&user='],
    ['/v1/api/profile/trades', 'provider=kalshi&user='],
  ];
  test.each(lists)('of %s?%s that were damaged anywhere are refused', async (path, query) => {
    const cursor = await first(path, query);
    expect(cursor).not.toBe('');
    expect(faults('the cursor itself', await ask(urlWith(path, query, cursor)), 200)).toEqual([]);
    const rng = createRng(7);
    const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const damaged = new Set<string>([`${cursor}=`, `${cursor}A`, `${cursor}${cursor}`, `A${cursor}`, cursor.slice(1)]);
    for (let at = 0; at < cursor.length; at += 1) {
      damaged.add(cursor.slice(0, at) + rng.pick([...LETTERS]) + cursor.slice(at + 1));
      damaged.add(cursor.slice(0, at) + rng.pick([...'%. +/=\0é']) + cursor.slice(at + 1));
      if (at > 0 && rng.chance(0.3)) damaged.add(cursor.slice(0, at));
    }
    damaged.delete(cursor);
    const found: string[] = [];
    for (const one of damaged) found.push(...faults(one, await ask(urlWith(path, query, one)), 400, ['cursor']));
    expect(found.slice(0, 5)).toEqual([]);
  });

  test('of one list are no cursors of another, nor of other filters', async () => {
    const found: string[] = [];
    const cursors = await Promise.all(lists.map(([path, query]) => first(path, query)));
    for (const [i, cursor] of cursors.entries()) {
      for (const [path, query] of lists.filter((_, at) => at !== i)) {
        found.push(...faults(`${i} ${path}`, await ask(urlWith(path, query, cursor)), 400, ['cursor']));
      }
    }
    expect(found).toEqual([]);
  });
});

/** Answers that follow one another on a connection. */
const replies = (text: string): Reply[] =>
  text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((one) => /^HTTP\/1\.1 (?!100)/.test(one))
    .map((one) => {
      const [head = '', body = ''] = one.split('\r\n\r\n', 2);
      const [line = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(
        lines.map((header) => header.split(/: (.*)/s).slice(0, 2) as [string, string]),
      );
      return { status: Number(line.split(' ')[1]), headers, text: body };
    });
const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: KEY\r\n${more}\r\n`;
const post = (headers: string, body: string): string =>
  `POST /v1/api/orders/cancel-all HTTP/1.1\r\nhost: x\r\nx-api-key: KEY\r\ncontent-type: application/json\r\n${headers}\r\n${body}`;

describe('on a socket', () => {
  // Of a caller with a key: nothing here is refused for coming from one address.
  let key = '';
  beforeAll(async () => {
    ({ key } = await service.app.newKey());
  });
  /** What a connection answers to these bytes until it closes; a half request ends with our side of it. */
  async function raw(given: string | Buffer, half = false): Promise<string> {
    const bytes = typeof given === 'string' ? given.replaceAll('KEY', key) : given;
    const { port } = service.app.app.server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.on('error', () => {});
    await once(socket, 'connect');
    if (half) socket.end(bytes);
    else socket.write(bytes);
    if (!socket.readableEnded) await Promise.race([once(socket, 'end'), once(socket, 'close')]);
    socket.destroy();
    return answer;
  }
  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['zeroes', '\0\0\0\0\0\0\0\0\r\n\r\n'],
    ['another protocol', Buffer.from('16030100a5010000a10303', 'hex')],
    ['another version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'BREW /v1/api/health HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a line without a colon', get('/v1/api/health', 'garbage\r\n')],
    ['a control character in a header', get('/v1/api/health', 'x: a\0b\r\n')],
    ['a space before the colon', get('/v1/api/health', 'x-y : 1\r\n')],
    ['two lengths', post('content-length: 2\r\ncontent-length: 3\r\n', '{}')],
    ['a length and chunks', post('content-length: 2\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n')],
    ['a length that is no number', post('content-length: two\r\n', '{}')],
    ['an unknown transfer coding', post('transfer-encoding: x, chunked, x\r\n', '0\r\n\r\n')],
    ['a space in the path', 'GET /v1/api/he alth HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['headers of 40 KB', get('/v1/api/health', `x: ${'a'.repeat(40_000)}\r\n`)],
    ['an address of 40 KB', get(`/v1/api/health?${'a'.repeat(40_000)}`)],
  ])('%s is answered with the envelope, and the connection closed', async (what, bytes) => {
    const [reply, ...more] = replies(await raw(bytes));
    expect(more).toEqual([]);
    expect(faults(what, reply ?? { status: 0, headers: {}, text: 'nothing' }, [400, 431])).toEqual([]);
    expect(reply?.headers['connection']).toBe('close');
  });

  test.each([
    ['a request line', 'GET /v1/api/hea'],
    ['headers', 'GET /v1/api/health HTTP/1.1\r\nhost: x\r\nx-y'],
    ['a body', post('content-length: 100\r\n', '{"email":')],
    ['chunks', post('transfer-encoding: chunked\r\n', '5\r\n{"ema')],
    ['chunks of no length', post('transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')],
  ])('half of %s harms nobody', async (what, bytes) => {
    const found = replies(await raw(bytes, true)).flatMap((reply) => faults(what, reply, [400, 408]));
    expect(found).toEqual([]);
    await service.get('markets?provider=kalshi&limit=1');
  });

  test('requests sent at once are answered in their order, and what is none after them never before them', async () => {
    const good = ['/v1/api/health', '/v1/api/nowhere', '/v1/api/markets'].map((path) => get(path)).join('');
    const statuses = [200, 404, 400, 200, 404, 400];
    const last = get('/v1/api/nowhere', 'connection: close\r\n');
    const answered = replies(await raw(`${good}${good}${last}`));
    expect(answered.map(({ status }) => status)).toEqual([...statuses, 404]);
    expect(answered.flatMap((reply, i) => faults(`${i}`, reply, [...statuses, 404]))).toEqual([]);
    const broken = replies(await raw(`${good}hello\r\n\r\n${good}`)).map(({ status }) => status);
    expect(broken).toEqual([200, 404, 400, 400].slice(0, broken.length));
  });

  test('headers said twice are no way round', async () => {
    const [twice, hosts] = [
      replies(await raw(get('/v1/api/markets?provider=kalshi', 'x-api-key: KEY\r\nconnection: close\r\n'))),
      replies(await raw(get('/v1/api/health', 'host: y\r\nconnection: close\r\n'))),
    ];
    expect(twice.flatMap((reply) => faults('two keys', reply, 401))).toEqual([]);
    expect(hosts.flatMap((reply) => faults('two hosts', reply, [200, 400]))).toEqual([]);
    expect([twice.length, hosts.length]).toEqual([1, 1]);
  });

  test.each([
    ['a whole address', get('http://elsewhere/v1/api/health', 'connection: close\r\n'), [200, 404]],
    ['two slashes', get('//elsewhere/v1/api/health', 'connection: close\r\n'), [404]],
    ['dots', get('/v1/api/../../etc/passwd', 'connection: close\r\n'), [404]],
    ['encoded dots', get('/v1/api/%2e%2e/%2e%2e/etc/passwd', 'connection: close\r\n'), [404]],
    ['a star', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nx-api-key: KEY\r\nconnection: close\r\n\r\n', [404, 405]],
    ['TRACE', 'TRACE /v1/api/health HTTP/1.1\r\nhost: x\r\nx-api-key: KEY\r\nconnection: close\r\n\r\n', [404, 405]],
    ['an upgrade', get('/v1/api/health', 'connection: upgrade, close\r\nupgrade: websocket\r\n'), [200, 404]],
    ['no host', 'GET /v1/api/health HTTP/1.1\r\nx-api-key: KEY\r\nconnection: close\r\n\r\n', [400]],
    ['an unknown expectation', get('/v1/api/health', 'expect: magic\r\nconnection: close\r\n'), [200]],
  ])('%s leads nowhere', async (what, bytes, statuses) => {
    const found = replies(await raw(bytes));
    expect(found).toHaveLength(1);
    expect(found.flatMap((reply) => faults(what, reply, statuses))).toEqual([]);
  });
});
