import { describe, expect, test } from 'vitest';
import type { PlatformErrorKind } from '../../../src/core/errors.ts';
import { createPolymarketData } from '../../../src/platforms/polymarket/data.ts';
import { cannedHttp, collect, readContext, refuse, SETTINGS } from '../../fixtures/canned-http.ts';
import { dataEnvelope, gammaEventRow, gammaRow, gammaTag, hex } from '../../fixtures/polymarket/rows.ts';

const NOW = Date.parse('2026-10-06T06:40:00Z');
const HOUR = 3_600_000;
const FAILURE = refuse('unavailable', 500, { type: 'internal error', error: 'cannot get the information' });

const parent = (n: number) => ({ id: `e${n}`, title: `Event ${n}`, slug: `event-${n}` });

const market = (n: number) =>
  gammaRow({
    id: String(n),
    conditionId: hex(n),
    closed: true,
    closedTime: '2026-10-06 06:30:00+00',
    outcomePrices: n % 2 === 0 ? '["1", "0"]' : '["0.4", "0.6"]',
    events: [parent(n)],
  });

const event = (n: number) =>
  gammaEventRow({ ...parent(n), tags: [gammaTag('Chess', 'chess')], markets: [{ ...market(n), events: undefined }] });

/** Markets 1 … count just closed, each of its own event, `e<n>`; every second market is without its payout. */
function world(count: number) {
  const [badEvents, badResults] = [new Set<string>(), new Set<string>()];
  const away: { kind: PlatformErrorKind | null } = { kind: null };
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const http = cannedHttp((path, query) => {
    const ids = query.getAll('id');
    if (path === '/events/keyset' && ids.length > 0) {
      if (ids.some((id) => badEvents.has(id))) return FAILURE;
      const isClosed = query.get('closed') === 'true';
      return { events: isClosed ? ids.map((id) => event(Number(id.slice(1)))) : [] };
    }
    if (path === '/markets/keyset' && query.get('closed') === 'true') {
      const conditions = query.getAll('condition_ids');
      const listed = numbers.filter((n) => conditions.length === 0 || conditions.includes(hex(n)));
      const from = Number(query.get('after_cursor') ?? 0);
      const to = from + Math.min(Number(query.get('limit') ?? 20), 100);
      return { markets: listed.slice(from, to).map(market), ...(to < listed.length ? { next_cursor: `${to}` } : {}) };
    }
    if (path === '/v2/resolutions') {
      if (away.kind !== null) return refuse(away.kind, 503, {});
      const conditions = query.get('condition')?.split(',') ?? [];
      if (conditions.some((id) => badResults.has(id))) return FAILURE;
      return dataEnvelope(
        conditions.map((id) => ({ condition_id: id, status: 'resolved', payouts: [0, 1_000_000] })),
        null,
      );
    }
    return { events: [], markets: [] };
  });
  const data = createPolymarketData({ http, settings: SETTINGS, now: () => NOW });
  const sweep = async (sinceMs = NOW - HOUR) => {
    const context = readContext();
    const pages = await collect(data.sweep({ kind: 'changed', sinceMs }, context));
    const records = new Map(pages.flatMap(({ markets }) => markets).map((one) => [one.info.platformId, one]));
    return { records, bad: context.badRows };
  };
  return { badEvents, badResults, away, sweep, data };
}

describe.each([
  [2, [1]],
  [12, [12]],
  [30, [1, 2, 11]],
])('of %i markets that closed, events %j answer 500', (count, failing) => {
  test('the others are stored whole, these without the tags of their events, and each is named', async () => {
    const { badEvents, sweep } = world(count);
    for (const n of failing) badEvents.add(`e${n}`);
    const { records, bad } = await sweep();
    expect(records.size).toBe(count);
    for (const [id, { info, state }] of records) {
      expect(state.status).toBe('settled');
      expect(info).toMatchObject({ eventId: `e${id}`, eventName: `Event ${id}` });
      expect(info.tags).toEqual(failing.includes(Number(id)) ? [] : ['Chess']);
    }
    expect(bad.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual(failing.map((n) => `event e${n}`).toSorted());
    expect(bad[0]?.reason).toContain('HTTP 500');
  });

  test('once they answer, the next sweep completes them, even one that lists nothing', async () => {
    const { badEvents, sweep } = world(count);
    for (const n of failing) badEvents.add(`e${n}`);
    await sweep();
    expect((await sweep(NOW + 9 * HOUR)).bad.map(({ id }) => id).toSorted()).toEqual(
      failing.map((n) => `e${n}`).toSorted(),
    );
    badEvents.clear();
    const { records, bad } = await sweep(NOW + 9 * HOUR);
    expect(bad).toEqual([]);
    for (const n of failing) expect(records.get(String(n))?.info.tags).toEqual(['Chess']);
  });
});

test('a result that cannot be read leaves its market closed until it can, and no other', async () => {
  const { badResults, sweep } = world(9);
  badResults.add(hex(3));
  const first = await sweep();
  for (const [id, { state }] of first.records) expect(state.status).toBe(id === '3' ? 'closed' : 'settled');
  expect(first.bad.map(({ kind, id }) => [kind, id])).toEqual([['market', hex(3)]]);
  badResults.clear();
  const { records, bad } = await sweep(NOW + 9 * HOUR);
  expect(records.get('3')?.state).toMatchObject({ status: 'settled', metadata: { payouts: { yes: 0, no: 1 } } });
  expect(bad).toEqual([]);
});

test.each(['unavailable', 'rate_limited', 'geo_blocked', 'timeout'] as const)(
  'while the whole host of results is %s, markets are stored without them, and with them afterwards',
  async (kind) => {
    const { away, sweep } = world(9);
    away.kind = kind;
    const first = await sweep();
    expect(Array.from(first.records, ([id, { state }]) => `${id} ${state.status}`)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `${n} ${n % 2 === 0 ? 'settled' : 'closed'}`),
    );
    expect(first.bad.map(({ id }) => id).toSorted()).toEqual([1, 3, 5, 7, 9].map((n) => hex(n)).toSorted());
    expect((await sweep(NOW + 9 * HOUR)).records.size).toBe(0);
    away.kind = null;
    const { records, bad } = await sweep(NOW + 9 * HOUR);
    expect(Array.from(records, ([id, { state }]) => [id, state.status]).toSorted()).toEqual(
      ['1', '3', '5', '7', '9'].map((id) => [id, 'settled']),
    );
    expect(bad).toEqual([]);
  },
);

test('a market that its oracle has settled does not open again while the result cannot be read', async () => {
  let isAway = false;
  const row = { ...market(1), closed: false, closedTime: '', umaResolutionStatus: 'resolved', events: undefined };
  const http = cannedHttp((path) => {
    if (path === '/events/keyset') return { events: [gammaEventRow({ ...parent(1), markets: [row] })] };
    const result = { condition_id: hex(1), status: 'resolved', payouts: [0, 1_000_000] };
    return isAway ? FAILURE : dataEnvelope([result], null);
  });
  const data = createPolymarketData({ http, settings: SETTINGS, now: () => NOW });
  for (isAway of [false, true]) {
    const pages = await collect(data.sweep({ kind: 'open' }, readContext()));
    expect(
      pages.flatMap(({ markets }) => markets).map(({ state }) => [state.status, state.metadata['payouts']]),
    ).toEqual([['settled', { yes: 0, no: 1 }]]);
  }
});

test('results that can be read again all reach their markets, more than one page of them too', async () => {
  const { badResults, sweep } = world(60);
  const failing = Array.from({ length: 25 }, (_, at) => 2 * at + 1);
  for (const n of failing) badResults.add(hex(n));
  await sweep();
  badResults.clear();
  const { records } = await sweep(NOW + 9 * HOUR);
  expect([...records.keys()].toSorted()).toEqual(failing.map(String).toSorted());
  for (const { state } of records.values()) expect(state.status).toBe('settled');
});

test('one condition that answers 500 costs no other its open interest', async () => {
  const bad = hex(3);
  const http = cannedHttp((_, query) => {
    const ids = query.get('condition')?.split(',') ?? [];
    return ids.includes(bad)
      ? FAILURE
      : dataEnvelope(
          ids.map((id) => ({ condition_id: id, value: '5' })),
          null,
        );
  });
  const data = createPolymarketData({ http, settings: SETTINGS, now: () => NOW });
  const context = readContext();
  const refs = Array.from({ length: 30 }, (_, n) => hex(n + 1));
  const read = await data.openInterest?.(refs, context);
  expect([...(read ?? [])].map(([ref]) => ref).toSorted()).toEqual(refs.filter((ref) => ref !== bad).toSorted());
  expect(context.badRows.map(({ id }) => id)).toEqual([bad]);
});

test('a market that is asked for by id is found while its event cannot be read', async () => {
  const { badEvents, data } = world(4);
  badEvents.add('e2');
  const context = readContext();
  expect((await data.market(hex(2), context))?.info).toMatchObject({ platformId: '2', eventName: 'Event 2' });
  expect(context.badRows.map(({ id }) => id)).toEqual(['e2']);
});
