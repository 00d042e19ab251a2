import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldText, isOneTypo } from '../../src/core/search-text.ts';
import type { MarketRecord } from '../../src/core/model.ts';
import { type MarketStore, market, startMarketStore, usd } from '../helpers/market-store.ts';

interface Found {
  markets: { platform_id: string; match?: string }[];
  pagination: { total: number; next_cursor: string | null };
}

let store: MarketStore;
let made = 0;

/** A market with its event and its series, all of this title. */
function titled(title: string, volume = '1', description = ''): MarketRecord {
  made += 1;
  const ref = `KXFIND-${String(made).padStart(3, '0')}`;
  const [eventId, seriesId] = [`KXFINDEVENT-${made}`, `KXFINDSERIES${made}`];
  const common = { platform: 'kalshi' as const, category: 'Sports', categorySlug: 'sports' };
  return {
    ...market({ platform: 'kalshi', ref, title, description, eventId, seriesId, state: { volume24h: usd(volume) } }),
    event: {
      ...common,
      eventId,
      seriesId,
      slug: eventId.toLowerCase(),
      title,
      tags: [],
      mutuallyExclusive: true,
      imageUrl: '',
      sourceUrl: '',
      marketIds: [ref],
    },
    series: { ...common, seriesId, title, frequency: null },
  };
}

const names: Record<string, string> = {};
const at = (name: string): string => names[name] ?? '';

beforeAll(async () => {
  store = await startMarketStore();
  const rows = {
    club: titled('Will Atlético Madrid beat Łódź?', '5'),
    rival: titled('Atletico Mineiro to win', '1'),
    second: titled('Can anyone stop Atlético?', '9'),
    text: titled('Winner of the match in Madrid', '900', 'Resolves to Yes if Atlético wins.'),
    street: titled('Straße über den Øresund'),
    year: titled('Rain on 12 June 2026'),
    other: titled('Rain on 13 June 2027'),
    election: titled('Presidential election winner'),
    dotted: titled('Will the U.S. leave the U.N.?', '3'),
    plain: titled('Will the US join the UN again?', '2'),
    // Six letters each once folded: a word of 3600 bytes.
    long: titled('㌖'.repeat(200)),
  };
  for (const [name, row] of Object.entries(rows)) names[row.info.platformId] = name;
  await store.list(...Object.values(rows));
});
afterAll(() => store?.close());

const ask = (query: string, rest = ''): Promise<Found> =>
  store.get(`markets?provider=kalshi&query=${encodeURIComponent(query)}${rest}`);
const found = async (query: string, rest = ''): Promise<string[]> =>
  (await ask(query, rest)).markets.map(({ platform_id: id }) => at(id));

/** Names of the markets of the events or series that a query finds. */
async function parents(list: 'events' | 'series', query: string): Promise<string[]> {
  const path = `${list}?provider=kalshi&query=${encodeURIComponent(query)}`;
  const answer = await store.get<Record<string, { event_id: string; series_id: string }[]>>(path);
  return (answer[list] ?? []).map(({ series_id: id }) => at(`KXFIND-${id.replace(/\D/g, '').padStart(3, '0')}`));
}

test('accents and case of the query and of the text do not matter, in any list', async () => {
  for (const query of ['Atletico', 'atlético', 'ATLÉTICO', 'atle\u0301tico', 'Ａtletico']) {
    expect(await found(query)).toEqual(['rival', 'second', 'club', 'text']);
    expect(await parents('events', query)).toEqual(['rival', 'second', 'club']);
    expect(await parents('series', query)).toEqual(['rival', 'club', 'second']);
  }
  expect(await found('lodz')).toEqual(['club']);
  expect(await found('strasse uber oresund')).toEqual(['street']);
  expect(await found('STRASSE ØRESUND')).toEqual(['street']);
});

test('the beginning of a word finds it while it is typed', async () => {
  for (const typed of ['atl', 'atlet', 'atletic']) {
    expect(await found(typed)).toEqual(['rival', 'second', 'club', 'text']);
    expect(new Set(await parents('events', typed))).toEqual(new Set(['rival', 'second', 'club']));
    expect(new Set(await parents('series', typed))).toEqual(new Set(['rival', 'second', 'club']));
  }
  expect(await found('atlet mad')).toEqual(['club', 'text']);
  expect(await found('202')).toEqual(expect.arrayContaining(['year', 'other']));
  expect(await found('at')).toEqual([]);
  expect(await found('mineiro madrid')).toEqual([]);
});

test('initials are found with dots and without, in whichever way the text has them', async () => {
  for (const query of ['US UN', 'U.S. UN', 'u.s. u.n', 'will the us']) {
    expect([query, ...(await found(query))]).toEqual([query, 'dotted', 'plain']);
    expect([query, ...(await parents('events', query))]).toEqual([query, 'dotted', 'plain']);
  }
  expect((await ask('U.S. UN')).markets.map(({ match }) => match)).toEqual(['words', 'words']);
  expect(await found('us again')).toEqual(['plain']);
});

test('one typo in a word of five letters and more is forgiven, in shorter words and in numbers none', async () => {
  for (const typo of ['Atletcio', 'Atlettico', 'Atletco', 'Atletiko']) {
    expect(new Set(await found(typo))).toEqual(new Set(['rival', 'second', 'club', 'text']));
    expect(new Set(await parents('events', typo))).toEqual(new Set(['rival', 'second', 'club']));
    expect(new Set(await parents('series', typo))).toEqual(new Set(['rival', 'second', 'club']));
  }
  expect(await found('presidental elecsion')).toEqual(['election']);
  expect(await found('june')).toEqual(expect.arrayContaining(['year', 'other']));
  expect(await found('jnue')).toEqual([]);
  expect(await found('20262')).toEqual([]);
  expect(await found('Atlteciko')).toEqual([]);
});

test('the best match comes first, then the most traded; another order is kept to', async () => {
  const { markets } = await ask('atletico');
  expect(markets.map(({ match }) => match)).toEqual(['prefix', 'words', 'words', 'words']);
  expect((await ask('elecsion')).markets.map(({ match }) => match)).toEqual(['typo']);
  expect(await found('atletico', '&sort=volume_24h')).toEqual(['text', 'second', 'club', 'rival']);
  expect((await store.get<Found>('markets?provider=kalshi')).markets.every(({ match }) => match === undefined)).toBe(
    true,
  );
  const id = Object.keys(names).find((one) => at(one) === 'year') ?? '';
  for (const query of [id, id.toLowerCase(), `kalshi:${id}`]) {
    const { markets: byId } = await ask(query);
    expect([at(byId[0]?.platform_id ?? ''), byId[0]?.match]).toEqual(['year', 'id']);
  }
  expect(await found('?!')).toEqual([]);
  expect(await found('\u0000')).toEqual([]);
});

test('the best match of nothing is the most traded, in either direction, and no row states a match', async () => {
  for (const [sort, order] of [
    ['match', 'volume_24h'],
    ['match&order=asc', 'volume_24h&order=asc'],
  ]) {
    const { markets } = await store.get<Found>(`markets?provider=kalshi&sort=${sort}`);
    expect(markets.map(({ match }) => match)).toEqual(markets.map(() => undefined));
    expect(markets).toEqual((await store.get<Found>(`markets?provider=kalshi&sort=${order}`)).markets);
  }
});

test('a word that is longer than PostgreSQL can search is found, and fails no search', async () => {
  expect(await found('㌖'.repeat(200))).toEqual(['long']);
  expect(await found('㌕'.repeat(200))).toEqual([]);
});

test('the beginning of a ticker finds its markets, and words of a slug are found too', async () => {
  const { markets } = await ask('KXFIND');
  expect(markets.map(({ match }) => match)).toEqual(Array.from({ length: 11 }, () => 'prefix'));
  expect(await found('kxfind-001')).toHaveLength(1);
  expect(await found('kxfind rain')).toEqual(expect.arrayContaining(['year', 'other']));
});

test('pages of a search neither repeat nor miss a row', async () => {
  const whole = await found('atletico');
  const joined: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Found = await ask('atletico', `&limit=1${cursor === null ? '' : `&cursor=${cursor}`}`);
    expect(page.pagination.total).toBe(4);
    joined.push(...page.markets.map(({ platform_id: id }) => at(id)));
    cursor = page.pagination.next_cursor;
  } while (cursor !== null);
  expect(joined).toEqual(whole);
});

test('a row that has the words as they are spelled is no typo beside one that is', async () => {
  const [typo, text] = [titled('Marathon of Vienna', '2'), titled('A run', '1', 'Known as the Maratohn of 1911.')];
  await store.list(typo, text);
  expect((await ask('maratohn')).markets.map(({ platform_id: id, match }) => [id, match])).toEqual([
    [typo.info.platformId, 'typo'],
    [text.info.platformId, 'words'],
  ]);
});

describe('folding', () => {
  test('is the same in the store and in the service, letter by letter', async () => {
    const ranges = [
      [0x20, 0x880],
      [0x1e00, 0x2000],
      [0x2100, 0x2190],
      [0x2c60, 0x2c80],
      [0x3040, 0x3100],
      [0xac00, 0xac40],
      [0xff00, 0xff60],
    ] as const;
    const letters = ranges.flatMap(([from, to]) =>
      Array.from({ length: to - from }, (_, i) => String.fromCodePoint(from + i)),
    );
    const titles = letters.filter((letter) => /\p{L}|\p{N}/u.test(letter)).map((letter) => `a${letter} Z`);
    await store.clickhouse.insert(
      'series (platform, series_id, title, version)',
      titles.map((title, i) => ({
        platform: 'limitless',
        series_id: `letter-${i}`,
        title,
        version: '2026-01-01 00:00:00',
      })),
    );
    const rows = await store.clickhouse.sql<{ title: string; folded: string }>(
      "SELECT title, search_title AS folded FROM series WHERE platform = 'limitless' AND series_id LIKE 'letter-%'",
    );
    expect(rows).toHaveLength(titles.length);
    expect(rows.filter(({ title, folded }) => foldText(title) !== folded)).toEqual([]);
  });

  test.each([
    ['abcde', 'abcde', false],
    ['abcde', 'abcd', true],
    ['abcde', 'xabcde', true],
    ['abcde', 'abxde', true],
    ['abcde', 'bacde', true],
    ['abcde', 'abced', true],
    ['abcde', 'badce', false],
    ['abcde', 'aecdb', false],
    ['abcde', 'abc', false],
    ['łódźż', 'łóźdż', true],
  ])('%s and %s differ by one typo: %s', (a, b, expected) => {
    expect([isOneTypo(a, b), isOneTypo(b, a)]).toEqual([expected, expected]);
  });
});
