import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MarketMatcher } from '../../ingest/matches/matcher.ts';
import { type MarketRecord, type Platform } from '../../src/core/model.ts';
import { market, type MarketStore, startMarketStore } from '../helpers/market-store.ts';
import { inRome, judgeAll, matcherOf } from '../helpers/matcher.ts';
import { virtualClock } from '../helpers/virtual-clock.ts';

interface Match {
  id: string;
  relation: string;
  a: { id: string; outcomes: { id: string }[] };
  b: { id: string };
  mapping: { a: string; b: string }[];
  reasons: { field: string; a: string; b: string; verdict: string }[];
  rules_version: number;
}
interface Page {
  matches: Match[];
  pagination: { total: number; has_more: boolean; next_cursor: string | null };
}

let store: MarketStore;
const clock = virtualClock(Date.now());
let matcher: MarketMatcher;
let at = Date.now();

/** Stores these markets and judges them. */
async function list(...records: MarketRecord[]): Promise<void> {
  at += 1000;
  for (const record of records) record.fetchedAt = new Date(at).toISOString();
  await store.list(...records);
  await judgeAll(matcher);
  await clock.advance(1000);
}

const game = (platform: Platform, ref: string, title: string, outcomes: [string, string]) =>
  market({
    platform,
    ref,
    title,
    category: 'Sports',
    tags: ['NBA'],
    outcomes: outcomes.map((name) => ({ id: name.toLowerCase().replaceAll(' ', '-'), name, tokenId: name })),
    metadata: { game_start_time: '2027-03-01T23:00:00.000Z' },
  });

beforeAll(async () => {
  store = await startMarketStore();
  matcher = matcherOf(store.clickhouse, clock, store.present);
  await list(
    inRome('kalshi', 'KABBOT', 'Ann Abbot', { eventId: 'KITALY' }),
    inRome('kalshi', 'KBAKER', 'Bob Baker', { eventId: 'KITALY' }),
    inRome('polymarket', 'p-abbot', 'Ann Abbot'),
  );
  await list(inRome('limitless', 'l-abbot', 'Ann Abbot'));
  await list(
    game('polymarket', 'p-game', 'Boston Celtics vs. Miami Heat', ['Boston Celtics', 'Miami Heat']),
    game('limitless', 'l-game', 'NBA: Miami Heat vs. Boston Celtics', ['Miami Heat', 'Boston Celtics']),
  );
}, 120_000);
afterAll(() => store.close());

const pairs = ({ matches }: Page): string[] => matches.map(({ a, relation, b }) => `${a.id} ${relation} ${b.id}`);
const get = (query: string): Promise<Page> => store.get<Page>(`matches?${query}`);

const ABBOT = 'kalshi:KABBOT identical polymarket:p-abbot';

test('matches are found by market, event, relation, platform and category', async () => {
  expect(pairs(await get('market_id=KABBOT&platform=kalshi')).toSorted()).toEqual([
    'kalshi:KABBOT identical limitless:l-abbot',
    ABBOT,
  ]);
  expect(pairs(await get('market_id=polymarket:p-abbot')).toSorted()).toEqual([
    ABBOT,
    'kalshi:KBAKER disjoint polymarket:p-abbot',
    'polymarket:p-abbot identical limitless:l-abbot',
  ]);
  expect(pairs(await get('event_id=KITALY')).length).toBe(4);
  expect(pairs(await get('event_id=KITALY&relation=identical')).length).toBe(2);
  expect(pairs(await get('event_id=KITALY&platform=polymarket'))).toEqual([]);
  expect(pairs(await get('relation=complement'))).toEqual(['polymarket:p-game complement limitless:l-game']);
  // By its slug or its name, as in the other lists.
  for (const category of ['sports', 'Sports'])
    expect(pairs(await get(`category=${category}`))).toEqual(['polymarket:p-game complement limitless:l-game']);
  expect(pairs(await get('platform=kalshi&category=sports'))).toEqual([]);
});

test('a match shows the outcomes that pay together, and the words of both markets for each field', async () => {
  const [identical] = (await get('market_id=KABBOT&platform=kalshi&limit=1')).matches;
  expect(identical?.mapping).toEqual([
    { a: 'yes', b: 'yes' },
    { a: 'no', b: 'no' },
  ]);
  expect(identical?.reasons.length).toBeGreaterThan(1);
  for (const { a, b } of identical?.reasons ?? []) expect(`${a}${b}`).toMatch(/Ann Abbot|2028/);
  const [complement] = (await get('relation=complement')).matches;
  expect(complement?.mapping).toEqual([
    { a: 'boston-celtics', b: 'boston-celtics' },
    { a: 'miami-heat', b: 'miami-heat' },
  ]);
  const one = await store.get<{ match: Match }>(`matches/${complement?.id}`);
  expect(one.match).toEqual(complement);
});

test('pages repeat no match and miss none, newest pairs first', async () => {
  const whole = await get('limit=100');
  const found: string[] = [];
  let cursor = '';
  do {
    const page = await get(`limit=2&cursor=${cursor}`);
    expect(page.pagination.total).toBe(whole.matches.length);
    found.push(...pairs(page));
    cursor = page.pagination.next_cursor ?? '';
  } while (cursor !== '');
  expect(found).toEqual(pairs(whole));
  expect(found[0]).toBe('polymarket:p-game complement limitless:l-game');
});

const sorted = (list: readonly { id: string; relation: string }[]): string[] =>
  list.map(({ id, relation }) => `${id} ${relation}`).toSorted();

test('v_matches has the same pairs under the same ids', async () => {
  const { matches } = await get('limit=100');
  const rows = await store.clickhouse.sql<{ id: string; relation: string }>('SELECT id, relation FROM v_matches');
  expect(sorted(rows)).toEqual(sorted(matches));
});

test('the list comes as CSV with a line for each match', async () => {
  const { key } = await store.app.newKey('pro');
  const { body } = await store.app.app.inject({
    url: '/v1/api/matches?relation=complement',
    headers: { 'x-api-key': key, accept: 'text/csv' },
  });
  const [header, ...lines] = body.trim().split('\r\n');
  expect(header).toContain('relation');
  expect([lines.length, lines[0]?.includes('complement')]).toEqual([1, true]);
});

test('a market that is unknown, an id that is none and a wrong relation are refused', async () => {
  const { key } = await store.app.newKey('pro');
  const status = async (path: string) =>
    (await store.app.app.inject({ url: `/v1/api/${path}`, headers: { 'x-api-key': key } })).statusCode;
  expect(await status('matches?market_id=nothing')).toBe(404);
  expect(await status('matches/0123456789abcdef')).toBe(404);
  expect(await status('matches/nothing')).toBe(404);
  expect(await status('matches?relation=same')).toBe(400);
});

test('a changed text takes the verdict from the answers at once', async () => {
  at += 1000;
  const changed = inRome('polymarket', 'p-abbot', 'Ann Abbott-Cole');
  changed.fetchedAt = new Date(at).toISOString();
  await store.list(changed);
  expect(pairs(await get('market_id=p-abbot&platform=polymarket'))).toEqual([]);
  const rows = await store.clickhouse.sql(`SELECT id FROM v_matches WHERE b_platform = 'polymarket'`);
  expect(rows).toEqual([]);
});

test('pages of gaps repeat no pair and miss none, and each gap says why its markets match', async () => {
  interface Gaps extends Pick<Page, 'pagination'> {
    matches: (Match & { match_id: string; checked_at: string; edge: number | null })[];
  }
  const paired = (await get('limit=100')).matches.filter(({ relation }) => /^(identical|complement)$/.test(relation));
  const found: Gaps['matches'] = [];
  let cursor: string | null = '';
  do {
    const page: Gaps = await store.get<Gaps>(`matches/gaps?size=10&limit=1&cursor=${cursor}`);
    expect([page.matches.length, page.pagination.total]).toEqual([1, paired.length]);
    found.push(...page.matches);
    cursor = page.pagination.next_cursor;
  } while (cursor !== null);
  expect(found.map(({ id }) => id).toSorted()).toEqual(paired.map(({ id }) => id).toSorted());
  for (const { match_id: id, mapping, reasons, rules_version: version, checked_at: checkedAt } of found)
    expect(paired.find((one) => one.id === id)).toMatchObject({
      mapping,
      reasons,
      rules_version: version,
      checked_at: checkedAt,
    });
  const first = await store.get<Gaps>('matches/gaps?size=10&limit=1');
  await expect(store.get(`matches/gaps?size=20&cursor=${first.pagination.next_cursor}`)).rejects.toThrow(/cursor/);
});
