import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { USD_SCALE } from '../../src/core/decimal.ts';
import { endpoint } from '../../src/http/endpoint.ts';
import {
  cursorParam,
  decimalParam,
  enumParam,
  flagParam,
  limitParam,
  marketIdParam,
  marketIdsParam,
  platformParam,
  timestampParam,
} from '../../src/schemas/parameters.ts';
import { integerOf, textParam } from '../../src/core/fields.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const Echo = z.object({ got: z.record(z.string(), z.unknown()) });
const echo = (got: object) => ({
  got: JSON.parse(JSON.stringify(got, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))),
});

let service: TestApp;
let key = '';
beforeAll(async () => {
  const shared = { auth: 'key', tag: 'Markets', operation: 'echo', summary: 'echo', answer: Echo } as const;
  service = await startTestApp({
    extend(app) {
      const list = {
        provider: platformParam(['kalshi', 'polymarket']),
        limit: limitParam(50, 500),
        cursor: cursorParam(),
        include_raw: flagParam(false),
        market_ids: marketIdsParam(3).optional(),
        start_ts: timestampParam().optional(),
        end_ts: timestampParam().optional(),
        interval: integerOf([1, 60, 1440]).default(60),
        min_size: decimalParam(USD_SCALE).default(0n),
        sort: enumParam(['time', 'size']).default('time'),
        user: textParam(20).optional(),
        takerOnly: flagParam(false),
      };
      endpoint(app, { ...shared, method: 'GET', url: '/t/list', query: list }, ({ query }) => echo(query));
      const one = { params: { id: marketIdParam() }, query: { platform: platformParam().optional() } };
      endpoint(app, { ...shared, method: 'GET', url: '/t/one/:id', ...one }, ({ params, query }) =>
        echo({ ...params, ...query }),
      );
      const body = {
        platform: platformParam(),
        market_id: marketIdParam(),
        size: decimalParam(USD_SCALE),
        tags: z.array(z.string()).optional(),
      };
      endpoint(app, { ...shared, method: 'POST', url: '/t/body', body }, (call) => echo(call.body));
    },
  });
  key = (await service.newKey('pro')).key;
});
afterAll(() => service.close());

async function get(path: string) {
  const answer = await service.app.inject({ url: path, headers: { 'x-api-key': key } });
  return { status: answer.statusCode, got: answer.json().got, text: answer.json().error?.error_text as string };
}
async function post(payload: object | string) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const answer = await service.app.inject({ method: 'POST', url: '/t/body', headers, payload });
  return { status: answer.statusCode, got: answer.json().got, text: answer.json().error?.error_text as string };
}
const list = (query: string) => get(`/t/list?provider=kalshi&${query}`);

test('defaults fill what is left out', async () => {
  const { got } = await list('');
  expect(got).toEqual({
    provider: 'kalshi',
    limit: 50,
    include_raw: false,
    interval: 60,
    min_size: '0n',
    sort: 'time',
    takerOnly: false,
  });
});

describe('aliases', () => {
  test.each([
    ['platform=polymarket', '/t/list?', { provider: 'polymarket' }],
    ['platform=platform_b', '/t/list?', { provider: 'polymarket' }],
    ['start=1700000000', '', { start_ts: 1_700_000_000_000 }],
    ['start_time=1700000000', '', { start_ts: 1_700_000_000_000 }],
    ['from=1700000000&to=1700000001', '', { start_ts: 1_700_000_000_000, end_ts: 1_700_000_001_000 }],
    ['end=1700000000', '', { end_ts: 1_700_000_000_000 }],
    ['end_time=1700000000', '', { end_ts: 1_700_000_000_000 }],
    ['sort_by=size', '', { sort: 'size' }],
    ['minimum_size=1.5', '', { min_size: '1500000n' }],
    ['minSize=0', '', { min_size: '0n' }],
    ['taker_only=true', '', { takerOnly: true }],
    ['address=0xAb', '', { user: '0xAb' }],
    ['username=ann', '', { user: 'ann' }],
    ['user_id=ann', '', { user: 'ann' }],
    ['market_id=A', '', { market_ids: ['A'] }],
    ['includeRaw=true', '', { include_raw: true }],
  ])('%s is understood', async (query, path, expected) => {
    const { status, got } = await (path === '' ? list(query) : get(`${path}${query}`));
    expect(status).toBe(200);
    expect(got).toMatchObject(expected);
  });

  test('of one parameter may agree, and must not differ', async () => {
    expect((await list('start=1700000000&start_ts=1700000000')).status).toBe(200);
    expect((await list('platform=platform_a')).status).toBe(200);
    const { status, text } = await list('start=1700000000&start_ts=1700000001');
    expect(status).toBe(400);
    expect(text).toBe('start_ts: one value, received "1700000000" and "1700000001"');
    expect((await list('platform=polymarket')).text).toContain(
      'provider: one value, received "kalshi" and "polymarket"',
    );
    expect((await list('limit=5&limit=6')).status).toBe(400);
  });
});

describe('limit', () => {
  test.each(['1', '500', '007'])('%s is taken as a number', async (value) => {
    expect((await list(`limit=${value}`)).got.limit).toBe(Number(value));
  });
  test.each(['0', '501', '-1', '1.5', '5e1', 'ten', '', ' 5', '0x10', 'NaN', 'Infinity', '99999999999999999999'])(
    '%j is refused, never clamped',
    async (value) => {
      const { status, text } = await list(`limit=${encodeURIComponent(value)}`);
      expect(status).toBe(400);
      expect(text).toBe(`limit: an integer from 1 to 500, received ${JSON.stringify(value)}`);
    },
  );
});

describe('times', () => {
  test.each([
    ['1700000000', 1_700_000_000_000],
    ['1700000000.5', 1_700_000_000_500],
    ['1700000000123', 1_700_000_000_123],
    ['99999999999', 99_999_999_999_000],
    ['100000000000', 100_000_000_000],
    ['0', 0],
    ['2023-11-14', 1_699_920_000_000],
    ['20231114', 1_699_920_000_000],
    ['20231114T221320Z', 1_700_000_000_000],
    ['2023-W46-2', 1_699_920_000_000],
    ['2023-11-14t22:13:20,5z', 1_700_000_000_500],
    ['2023-11-14T22Z', 1_699_999_200_000],
    ['99999999', 99_999_999_000],
    ['2023-11-14T22:13:20Z', 1_700_000_000_000],
    ['2023-11-14T22:13:20', 1_700_000_000_000],
    ['2023-11-15T00:13:20.5+02:00', 1_700_000_000_500],
    // RFC 3339 allows a blank; a + in a URL that was not encoded arrives as one.
    ['2023-11-14 22:13', 1_699_999_980_000],
    ['2023-11-14 22:13:20.500000+00:00', 1_700_000_000_500],
    ['2023-11-15T00:13:20 02:00', 1_700_000_000_000],
  ])('%s is %i ms', async (value, expected) => {
    expect((await list(`start_ts=${encodeURIComponent(value)}`)).got.start_ts).toBe(expected);
  });
  test.each([
    'yesterday',
    '-5',
    '2023-13-01',
    '2023-02-30T99:00:00Z',
    '1e12',
    '9'.repeat(16),
    '14/11/2023',
    'T'.repeat(2000),
  ])('%s is refused', async (value) => {
    const { status, text } = await list(`start_ts=${encodeURIComponent(value)}`);
    expect(status).toBe(400);
    expect(text).toMatch(/^start_ts: a time in Unix seconds, Unix milliseconds or ISO-8601, received/);
  });
  test.each([
    ['start_ts=1700000000&end_ts=1700000000', '"1700000000" with end_ts "1700000000"'],
    ['start=1700000000&end=1699999999', '"1700000000" with end_ts "1699999999"'],
    ['from=1700000000000&to=2023-11-14', '"1700000000000" with end_ts "2023-11-14"'],
  ])('start must lie before end; %s is refused with the values as they came', async (query, received) => {
    const { status, text } = await list(query);
    expect(status).toBe(400);
    expect(text).toBe(`start_ts: a time before end_ts, received ${received}`);
  });
});

describe('market ids', () => {
  test('are taken with or without their prefix, as a list without repetition', async () => {
    expect((await list('market_ids=A,kalshi:B,%20A%20,platform_a:C')).got.market_ids).toEqual(['A', 'B', 'C']);
    expect((await get('/t/one/polymarket:253591?platform=polymarket')).got).toEqual({
      id: '253591',
      platform: 'polymarket',
    });
    expect((await get('/t/one/253591?platform=polymarket')).got.id).toBe('253591');
  });
  test('name the platform that was left out', async () => {
    expect((await get('/t/one/limitless:some-slug')).got).toEqual({ id: 'some-slug', platform: 'limitless' });
  });
  test('of another platform are refused', async () => {
    const { status, text } = await get('/t/one/kalshi:KX-1?platform=polymarket');
    expect(status).toBe(400);
    expect(text).toBe('id: an id of platform polymarket, received "kalshi:KX-1"');
    expect((await list('market_ids=A,polymarket:1')).status).toBe(400);
  });
  test('are counted: four of at most three, and an empty one, are refused', async () => {
    expect((await list('market_ids=A,B,C,D')).text).toContain('market_ids: 1 to 3 market ids, comma-separated');
    expect((await list('market_ids=A,,B')).status).toBe(400);
  });
  test('longer than a hundred characters are found', async () => {
    const slug = 's'.repeat(300);
    expect((await get(`/t/one/${slug}`)).got.id).toBe(slug);
  });
});

describe('refusals', () => {
  test('list every failing field, with the rule and the value received', async () => {
    const { status, text } = await get(
      '/t/list?provider=limitless&limit=x&include_raw=yes&interval=5&sort=best&min_size=-1',
    );
    expect(status).toBe(400);
    expect(text.split('; ')).toEqual([
      'provider: one of kalshi, polymarket, received "limitless"',
      'limit: an integer from 1 to 500, received "x"',
      'include_raw: true or false, received "yes"',
      'interval: one of 1, 60, 1440, received "5"',
      'min_size: a number from 0 to 999999999999 with at most 6 decimals, received "-1"',
      'sort: one of time, size, received "best"',
    ]);
    expect((await get('/t/list')).text).toBe('provider: one of kalshi, polymarket, received nothing');
  });
  test.each([
    ['limt=5', 'limt: no such parameter (nearest: limit), received "5"'],
    ['strat_ts=5', 'strat_ts: no such parameter (nearest: start_ts), received "5"'],
    ['usernam=5', 'usernam: no such parameter (nearest: user), received "5"'],
    ['__proto__=5', '__proto__: no such parameter'],
    ['constructor=5', 'constructor: no such parameter'],
  ])('an unknown parameter (%s) is named with its nearest known one', async (query, expected) => {
    const { status, text } = await list(query);
    expect(status).toBe(400);
    expect(text).toContain(expected);
  });
  test('shorten long values and cut out keys', async () => {
    const { text } = await list(`limit=${'9'.repeat(5000)}`);
    expect(text.length).toBeLessThan(300);
    expect((await list(`user=${key}`)).text).not.toContain(key);
  });
});

describe('a body', () => {
  test('takes the same aliases and prefixes; numbers and text are both read exactly', async () => {
    const { got } = await post({ provider: 'platform_c', market_id: 'limitless:a', size: 0.57, tags: ['x', 'y'] });
    expect(got).toEqual({ platform: 'limitless', market_id: 'a', size: '570000n', tags: ['x', 'y'] });
    expect((await post({ platform: 'kalshi', market_id: 'a', size: '1.1' })).got.size).toBe('1100000n');
    expect((await post({ platform: 'kalshi', market_id: 'a', size: '123456789012.123456' })).got.size).toBe(
      '123456789012123456n',
    );
  });
  test('refuses a decimal with more places than it keeps, and rounds none', async () => {
    const rule = 'size: a number from 0 to 999999999999 with at most 6 decimals';
    for (const size of ['0.0000004', 0.0000004, '1e-40', '1.1234567', '1000000000000', '-0.000001']) {
      const { status, text } = await post({ platform: 'kalshi', market_id: 'a', size });
      expect([status, text]).toEqual([400, `${rule}, received ${JSON.stringify(size)}`]);
    }
  });
  test.each([
    ['[]', 'a list of 0'],
    ['[{"email":"a@b.co","password":"hunter2hunter2"}]', 'a list of 1'],
    ['"hunter2hunter2"', 'text'],
    ['5', 'a number'],
    ['true', 'a boolean'],
  ])('that is %s is refused, and only its type is repeated', async (payload, type) => {
    expect(await post(payload)).toMatchObject({ status: 400, text: `body: a JSON object, received ${type}` });
  });
  test('that is null is refused as an empty one', async () => {
    expect((await post('null')).text).toMatch(/^platform: .*; market_id: .*; size: .*, received nothing$/);
  });
  test('repeats no list and no object inside it', async () => {
    const secret = { password: 'hunter2hunter2' };
    const { text } = await post({ platform: 'kalshi', market_id: [secret], size: secret, tags: secret });
    expect(text).not.toContain('hunter2');
    expect(text).toMatch(
      /^market_id: .*, received a list of 1; size: .*, received an object; tags: .*, received an object$/,
    );
  });
  test('names nested failures by their path', async () => {
    const { text } = await post({ platform: 'kalshi', market_id: 'a', size: 1, tags: ['x', 5] });
    expect(text).toMatch(/^tags\.1: .*received 5$/);
  });
});
