import { describe, expect, test } from 'vitest';
import { createLimitlessData } from '../../../src/platforms/limitless/data.ts';
import type { SweepScope } from '../../../src/platforms/contract.ts';
import { SETTINGS, cannedHttp, collect, readContext, refuse } from '../../fixtures/canned-http.ts';
import { childRow, groupRow, marketRow } from '../../fixtures/limitless/rows.ts';

const NOW = Date.UTC(2026, 9, 6, 6, 40);
const FAILURE = refuse('unavailable', 500, { message: 'Internal server error' });
const FULL = { kind: 'full' } as const;
const NEXT: SweepScope[] = [FULL, { kind: 'open' }, { kind: 'changed', sinceMs: NOW - 60_000 }];

const child = (n: number) => childRow({ id: 100 + n, slug: `child-${n}`, title: `${n}`, orderInGroup: 0 });
const group = (n: number) =>
  groupRow({ id: 1000 + n, slug: `group-${n}`, title: `Boats above __ in bay ${n}?`, markets: [child(n)] });

/** A listed market, and `count` others, child-1 …, each of a group of its own, that only the list of slugs names. */
function world(count: number) {
  const bad = new Set<string>();
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const named = { slugs: numbers.map((n) => ({ slug: `child-${n}` })) };
  const http = cannedHttp((path) => {
    const slug = path.slice('/markets/'.length);
    if (bad.has('away')) return refuse('unavailable', 503);
    if (bad.has(slug)) return FAILURE;
    if (slug === 'active') return { data: [marketRow()], totalMarketsCount: 1 };
    if (slug === 'active/slugs') return named.slugs;
    const n = Number(/\d+$/.exec(slug)?.[0]);
    if (!numbers.includes(n)) return undefined;
    return slug.startsWith('group-') ? group(n) : { ...child(n), groupSlug: `group-${n}` };
  });
  const data = createLimitlessData({ http, settings: SETTINGS, now: () => NOW });
  const sweep = async (scope: SweepScope = FULL) => {
    const context = readContext();
    const pages = await collect(data.sweep(scope, context));
    const records = new Map(pages.flatMap(({ markets }) => markets).map((one) => [one.info.ref, one.info]));
    return { records, bad: context.badRows };
  };
  return { bad, named, sweep, http, data };
}

describe('what cannot be read beside the listing of Limitless', () => {
  test.each([2, 5, 60])('one market of %d that answers 500 leaves only itself out, and is named', async (count) => {
    const { bad, sweep } = world(count);
    bad.add('child-2');
    const { records, bad: named } = await sweep();
    expect(records.size).toBe(count);
    expect(records.has('child-2')).toBe(false);
    expect(records.get('child-1')).toMatchObject({ title: 'Boats above 1 in bay 1?', eventId: 'group-1' });
    expect(named).toEqual([
      expect.objectContaining({ kind: 'market', id: 'child-2', reason: expect.stringContaining('could not be read') }),
    ]);
  });

  test.each([2, 5, 60])(
    'one group of %d that answers 500 leaves its market without group, and no other',
    async (count) => {
      const { bad, sweep } = world(count);
      bad.add('group-2');
      const { records, bad: named } = await sweep();
      expect(records.size).toBe(count + 1);
      expect(records.get('child-2')).toMatchObject({ title: '2', eventId: 'group-2', eventName: '' });
      expect(records.get('child-1')).toMatchObject({ title: 'Boats above 1 in bay 1?', eventId: 'group-1' });
      expect(named).toEqual([
        expect.objectContaining({ kind: 'event', id: 'group-2', reason: expect.stringContaining('could not be read') }),
      ]);
    },
  );

  test.each(NEXT)('the next sweep ($kind) tries each again alone, and stores it once it can be read', async (scope) => {
    const { bad, named, sweep, http } = world(6);
    for (const slug of ['child-3', 'group-5']) bad.add(slug);
    await sweep();
    named.slugs = [];
    http.asked.length = 0;
    expect((await sweep(scope)).bad.map(({ kind, id }) => [kind, id])).toEqual([
      ['event', 'group-5'],
      ['market', 'child-3'],
    ]);
    expect(http.asked.filter((url) => /child|group/.test(url))).toEqual(['/markets/group-5', '/markets/child-3']);
    bad.clear();
    const healed = await sweep(scope);
    expect(healed.records.get('child-3')).toMatchObject({ title: 'Boats above 3 in bay 3?', eventId: 'group-3' });
    expect(healed.records.get('child-5')).toMatchObject({ title: 'Boats above 5 in bay 5?', eventId: 'group-5' });
    expect(healed.bad).toEqual([]);
    http.asked.length = 0;
    await sweep(scope);
    expect(http.asked.filter((url) => /child|group/.test(url))).toEqual([]);
  });

  test('a market is read by slug without a group that answers 500, and with it afterwards', async () => {
    const { bad, data, sweep } = world(2);
    bad.add('group-1');
    const context = readContext();
    const record = await data.market('child-1', context);
    expect(record?.info).toMatchObject({ ref: 'child-1', title: '1', eventId: 'group-1', eventName: '' });
    expect(context.badRows).toEqual([expect.objectContaining({ kind: 'event', id: 'group-1' })]);
    bad.clear();
    const { records } = await sweep({ kind: 'open' });
    expect(records.get('child-1')).toMatchObject({ title: 'Boats above 1 in bay 1?', eventId: 'group-1' });
    expect((await data.market('child-1', readContext()))?.info.title).toBe('Boats above 1 in bay 1?');
  });

  test('a market that itself answers 500 is not read by slug', async () => {
    const { bad, data } = world(1);
    bad.add('child-1');
    await expect(data.market('child-1', readContext())).rejects.toMatchObject({ status: 500 });
  });

  test('a group that is left out is asked for once in a sweep, however many markets name it', async () => {
    const { bad, data, http } = world(1);
    bad.add('group-1');
    const context = readContext();
    for (let read = 0; read < 3; read += 1) await data.market('child-1', context);
    expect(http.asked.filter((url) => url === '/markets/group-1')).toHaveLength(1);
    expect(context.badRows).toHaveLength(1);
  });

  test('the list of slugs that answers 500 costs nothing that the listing brings, and is named', async () => {
    const { bad, sweep } = world(2);
    bad.add('active/slugs');
    const { records, bad: named } = await sweep();
    expect([...records.keys()]).toEqual([marketRow().slug]);
    expect(named).toEqual([
      expect.objectContaining({ kind: 'market', id: '', reason: expect.stringContaining('slugs') }),
    ]);
    bad.clear();
    expect((await sweep()).records.size).toBe(3);
  });

  test('a platform that is away is not a bad item', async () => {
    const { bad, sweep } = world(2);
    bad.add('away');
    await expect(sweep()).rejects.toMatchObject({ status: 503 });
  });
});
