import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startPolymarket, type PolymarketWorld } from '../polymarket.ts';
import { json, manualClock, type ManualClock } from '../lib/index.ts';
import type { Simulator } from '../simulator.ts';
import { readerOf, type Reader, type Row } from './reader.ts';
import { Cdn } from './data/cdn.ts';
import type { SimMarket } from './world/model.ts';

interface Body {
  data: Row[];
  pagination: { next_cursor: string | null };
}

let clock: ManualClock;
let sim: Simulator<PolymarketWorld>;
let world: PolymarketWorld;
let reader: Reader;
let open: SimMarket;

beforeAll(async () => {
  clock = manualClock('2026-11-20T12:00:00Z');
  sim = await startPolymarket({ seed: 5, clock });
  ({ world } = sim);
  reader = readerOf(sim);
  open = world.markets.find((market) => market.state === 'open' && market.trades.length > 10)!;
});
beforeEach(() => Object.assign(world.dataApi, { v1: 404, cdn: false, hidesDust: false }));
afterAll(() => sim.close());

const read = (path: string): Promise<Body> => reader.data<Body>(path);
const headersOf = async (query: string): Promise<Headers> =>
  (await reader.ask('DATA', `/v2/trades?limit=3${query}`)).headers;
const refusal = async (path: string): Promise<[number, unknown]> => {
  const reply = await reader.ask('DATA', path);
  return [reply.status, ((await reply.json()) as Row)['error']];
};

describe('the CDN', () => {
  test('keeps a page for 300 s under its whole URL, with its age and its old trace id', async () => {
    world.dataApi.cdn = true;
    const first = await headersOf('');
    clock.advance(124_000);
    sim.trade(5);
    const hit = await headersOf('');
    expect([hit.get('age'), hit.get('x-cache'), hit.get('x-trace-id')]).toEqual([
      '124',
      'Hit from cloudfront',
      first.get('x-trace-id'),
    ]);
    const fresh = await headersOf('&_=1');
    expect([fresh.get('age'), fresh.get('x-cache')]).toEqual([null, 'Miss from cloudfront']);
    expect(fresh.get('x-trace-id')).not.toBe(first.get('x-trace-id'));
    clock.advance(177_000);
    expect((await headersOf('')).get('x-cache')).toBe('Miss from cloudfront');
  });

  test('keeps a bounded amount, however many URLs are asked for', () => {
    const cdn = new Cdn();
    const reply = json(200, 'x'.repeat(540_000));
    const ask = (n: number) => cdn.serve(`/v2/trades?_=${n}`, 0, () => reply).headers?.['x-cache'];
    for (let n = 0; n < 1000; n += 1) ask(n);
    expect(cdn.size).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect([ask(999), ask(0)]).toEqual(['Hit from cloudfront', 'Miss from cloudfront']);
  });
});

describe('trades', () => {
  test('below 0.01 shares are never shown, whatever is asked for', async () => {
    world.makeTrade(open, undefined, 5000n);
    world.makeTrade(open, undefined, 10_000n);
    for (const amount of ['', '&filter_amount=0', '&filter_amount=0.000001']) {
      const { data } = await read(`/v2/trades?condition=${open.conditionId}&limit=2${amount}`);
      expect(data.map(({ size }) => size)).toEqual([0.01, expect.any(Number)]);
      expect(Number(data[1]?.['size'])).toBeGreaterThan(0.01);
    }
  });

  test('a filter that is not sent with the cursor is no longer applied, and nobody says so', async () => {
    const first = await read(`/v2/trades?condition=${open.conditionId}&limit=3`);
    const other = await read(`/v2/trades?limit=3&cursor=${first.pagination.next_cursor}`);
    const conditions = new Set(other.data.map((row) => row['condition_id']));
    expect([...conditions].some((id) => id !== open.conditionId)).toBe(true);
  });

  test('8 of 1,000 are combos: a condition of 62 digits that no market has', async () => {
    const rows: Row[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Body = await read(`/v2/trades?limit=1000${cursor && `&cursor=${cursor}`}`);
      rows.push(...page.data);
      cursor = page.pagination.next_cursor;
    }
    const combos = rows.filter((row) => String(row['condition_id']).length === 64);
    expect(combos.length / rows.length).toBeCloseTo(0.008, 2);
    expect(combos.every((row) => row['slug'] === '' && row['is_combo'] === true)).toBe(true);
  });

  test('a list of wallets is an empty list, a row past the cap a refusal', async () => {
    const [one, two] = world.wallets;
    expect((await read(`/v2/trades?user=${one!.address},${two!.address}`)).data).toEqual([]);
    expect((await refusal('/v2/trades?limit=1001'))[0]).toBe(400);
    expect((await refusal('/v2/trades?offset=10'))[0]).toBe(400);
  });
});

const user = (): string => `user=${world.demoUser.address}`;
const sizes = async (query: string): Promise<number[]> =>
  (await read(`/v2/positions?${user()}${query}`)).data.map((row) => Number(row['current_size']));

describe('positions', () => {
  test('hide dust and archived markets unless asked for; whether 0 lifts the floor can be switched', async () => {
    const shown = (await sizes('&limit=1000')).length;
    const archived = world.markets.find((market) => market.archived)!;
    world.giveShares(world.demoUser, archived, 7_000_000n);
    const dusty = world.markets.find((market) => market.state === 'open' && market.volume > 0n && market.index > 20)!;
    world.giveShares(world.demoUser, dusty, 50_000n - (world.held(world.demoUser, dusty, 0) % 50_000n));
    const all = '&filter_type=TOKENS&filter_amount=0&include_archived=true&limit=1000';
    expect((await sizes('&limit=1000')).length).toBeLessThan((await sizes(all)).length);
    expect((await sizes('&include_archived=true&limit=1000')).length).toBeGreaterThanOrEqual(shown + 2);
    world.dataApi.hidesDust = true;
    expect(Math.min(...(await sizes(all)))).toBeGreaterThanOrEqual(0.1);
  });

  test('OPEN holds the redeemable ones too; archived rows beside CLOSED are refused', async () => {
    const { data } = await read(`/v2/positions?${user()}&limit=1000`);
    expect(data.some((row) => row['status'] === 'REDEEMABLE')).toBe(true);
    expect((await refusal(`/v2/positions?${user()}&status=CLOSED&include_archived=true`))[0]).toBe(400);
  });

  test('of combos are a list of their own, and a contract of the protocol has none', async () => {
    world.combos.push({ of: world.demoUser, size: 2_500_000n });
    const path = '/v2/positions/combos';
    expect((await read(`${path}?${user()}`)).data).toMatchObject([{ current_size: 2.5, legs_total: 2 }]);
    expect((await read(`${path}?user=${world.wallets[1]!.address}`)).data).toEqual([]);
    for (const route of ['/v2/positions', '/v2/trades', path]) {
      expect((await refusal(`${route}?user=0xe3333700cA9d93003F00f0F71f8515005F6c00Aa`))[0]).toBe(400);
    }
  });

  test('a cursor goes with its user, and may not be contradicted', async () => {
    const { pagination } = await read(`/v2/positions?${user()}&limit=2`);
    const cursor = `cursor=${pagination.next_cursor}`;
    expect((await refusal(`/v2/positions?${cursor}`))[1]).toBe(
      "required query param 'user' or 'condition' not provided",
    );
    expect((await refusal(`/v2/positions?${user()}&${cursor}&status=CLOSED`))[0]).toBe(400);
    expect((await read(`/v2/positions?${user()}&${cursor}`)).data).toHaveLength(2);
  });
});

test('open interest without a condition is that of all markets, and one that is archived is left out', async () => {
  const archived = world.markets.find((market) => market.archived)!;
  expect((await read('/v2/oi')).data).toMatchObject([{ condition_id: 'GLOBAL' }]);
  const { data } = await read(`/v2/oi?condition=${archived.conditionId},${open.conditionId}`);
  expect(data).toEqual([{ condition_id: open.conditionId, value: Number(open.sets) / 1e6 }]);
  const many = Array.from({ length: 21 }, () => open.conditionId).join(',');
  expect((await refusal(`/v2/oi?condition=${many}`))[0]).toBe(400);
});

test('resolutions name one filter, know no 62 digits, and pay in millionths', async () => {
  const v2 = world.markets.find(({ version, payouts }) => version === 'v2' && payouts);
  const old = world.markets.find(({ id }) => id === '44')!;
  expect((await refusal('/v2/resolutions'))[0]).toBe(400);
  expect((await refusal(`/v2/resolutions?condition=${v2!.conditionId.slice(0, 64)}`))[1]).toMatch(
    /^invalid resolution/,
  );
  const { data } = await read(`/v2/resolutions?condition=${v2!.conditionId},${old.conditionId},${open.conditionId}`);
  expect(data).toMatchObject([
    { status: 'resolved', payouts: [0, 1_000_000] },
    { status: 'resolved', payouts: [0, 1_000_000] },
  ]);
});

test('a width of price samples that has expired is an empty page', async () => {
  const now = Math.floor(clock.now() / 1000);
  const ask = async (width: number) =>
    (
      await read(
        `/v2/prices-history?token_id=${open.tokenIds[0]}&start=${now - 864_000}&end=${now - 777_600}&bucket_seconds=${width}`,
      )
    ).data.length;
  expect([await ask(60), await ask(300)]).toEqual([0, 100]);
});

test('version 1 is off, answers as before, or says that it will end', async () => {
  expect((await refusal('/trades'))[0]).toBe(404);
  world.dataApi.v1 = 410;
  expect((await refusal('/oi'))[0]).toBe(410);
  world.dataApi.v1 = 'deprecated';
  const reply = await reader.ask('DATA', '/trades');
  expect([reply.status, reply.headers.get('deprecation')]).toEqual([200, 'true']);
});

test('Gamma prints a condition of protocol version 2 without its last byte and its ids as positions', async () => {
  const v2 = world.markets.find(({ version, state }) => version === 'v2' && state === 'open')!;
  const [row] = await reader.gamma<Row[]>(`/markets?id=${v2.id}`);
  expect(row).toMatchObject({
    conditionId: v2.conditionId.slice(0, 64),
    clobTokenIds: null,
    positionIds: v2.tokenIds,
    resolutionStatus: 'active',
  });
  expect((await reader.ask('GAMMA', '/markets')).headers.get('sunset')).toContain('2026');
  expect((await reader.ask('GAMMA', '/markets?offset=2001')).status).toBe(422);
});
