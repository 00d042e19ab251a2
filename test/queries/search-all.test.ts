import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { MarketRecord } from '../../src/core/model.ts';
import { startTestApp } from '../helpers/app.ts';
import { market, type MarketStore, startMarketStore, trade, usd } from '../helpers/market-store.ts';

interface Result {
  type: string;
  id: string;
  title: string;
  subtitle: string;
  match: string | null;
  event?: {
    volume_24h_usd: number | null;
    markets_count: number;
    usd_markets: { volume_24h: number };
    market_ids: string[];
  };
  series?: { events_count: number; open_events: number };
  wallet?: { trades: number };
}
interface Found {
  results: Result[];
  pagination: { total: number; next_cursor: string | null; has_more: boolean };
}

const CONDITION = `0x${'c1'.repeat(32)}`;
const CLUB_CONDITION = `0x${'d7'.repeat(32)}`;
const TOKENS = ['71'.repeat(35), '72'.repeat(35)];
const WALLET = `0x${'5a'.repeat(20)}`;

type Row = Parameters<typeof market>[0] & { volume?: string };
/** A market with its event and series. */
function listed({ volume = '1', ...row }: Row): MarketRecord {
  const made = market({ ...row, state: { volume24h: usd(volume), volumeTotal: usd(volume), ...row.state } });
  const { platform, eventId, eventName, seriesId, category, categorySlug } = made.info;
  const common = { platform, category, categorySlug };
  return {
    ...made,
    ...(eventId !== '' && {
      event: {
        ...common,
        eventId,
        seriesId,
        slug: eventId.toLowerCase(),
        title: eventName,
        tags: [],
        mutuallyExclusive: true,
        imageUrl: '',
        sourceUrl: '',
        marketIds: [],
      },
    }),
    ...(seriesId !== '' && { series: { ...common, seriesId, title: 'Presidents of the year', frequency: 'annual' } }),
  };
}

const election = {
  platform: 'polymarket' as const,
  eventId: 'nation-votes',
  eventName: 'Presidential election',
  seriesId: 's9',
};
const rows = [
  listed({
    ...election,
    ref: CONDITION,
    platformId: '801',
    slug: 'ann-wins',
    title: 'Will Ann Müller be president?',
    volume: '900',
    metadata: { group_item_title: 'Ann Müller' },
    outcomes: TOKENS.map((tokenId, n) => ({ id: ['yes', 'no'][n] ?? '', name: ['Yes', 'No'][n] ?? '', tokenId })),
  }),
  listed({
    ...election,
    ref: `0x${'c2'.repeat(32)}`,
    platformId: '802',
    slug: 'bob-wins',
    title: 'Will Bob be president?',
    volume: '100',
    metadata: { group_item_title: 'The challenger' },
  }),
  listed({
    platform: 'kalshi',
    ref: 'KXHIGHNY-26-T40',
    title: 'High temperature in New York above 40',
    eventId: 'KXHIGHNY-26',
    eventName: 'Temperature in New York',
    category: 'Climate and Weather',
    volume: '5000',
  }),
  listed({
    platform: 'limitless',
    ref: 'president-of-the-club',
    title: 'President of the club',
    volume: '300',
    metadata: { condition_id: CLUB_CONDITION },
  }),
  listed({ platform: 'limitless', ref: 'btc-above-90k', title: 'BTC above 90k', category: 'Crypto', volume: '20' }),
];

let store: MarketStore;
const ask = (query: string): Promise<Found> => store.get(`search?${query}`);
const shown = async (query: string): Promise<string[]> =>
  (await ask(query)).results.map(({ type, id }) => `${type} ${id}`);
const typed = (q: string, rest = ''): Promise<string[]> => shown(`q=${encodeURIComponent(q)}${rest}`);
const ALL = 'types=markets,events,series,wallets';

beforeAll(async () => {
  store = await startMarketStore();
  await store.list(...rows);
  const trader = { address: WALLET, name: 'ann', pseudonym: '', profileImage: '' };
  await store.trade(trade({ of: rows[0]!, atMs: Date.now() - 5000, price: '0.5', size: '10', trader }));
});
afterAll(() => store?.close());

const ANN = 'market polymarket:801';
const VOTE = 'event polymarket:nation-votes';
const NEW_YORK = 'market kalshi:KXHIGHNY-26-T40';
/** What a person types or pastes, and what comes first. */
const TYPED: [kind: string, q: string, first: string][] = [
  ['words of a title', 'president ann', ANN],
  ['words with accents and case folded', 'ANN MULLER', ANN],
  ['the beginning of a word', 'presi', VOTE],
  ['the beginning of a ticker', 'KXHIGH', NEW_YORK],
  ['a typo', 'temprature', NEW_YORK],
  ['a whole ticker', 'kxhighny-26-t40', NEW_YORK],
  ['a slug', 'ann-wins', ANN],
  ['an id of the platform', '801', ANN],
  ['a unified id', 'polymarket:801', ANN],
  ['a condition id', CONDITION, ANN],
  ['a condition id of Limitless', CLUB_CONDITION, 'market limitless:president-of-the-club'],
  ['the token of an outcome', TOKENS[1] ?? '', ANN],
  ['the title of an event', 'Presidential election', VOTE],
  ['the name of an outcome', 'the challenger', 'market polymarket:802'],
  ['a category', 'crypto', 'market limitless:btc-above-90k'],
  [
    'an address of Kalshi',
    'https://kalshi.com/markets/kxhighny/high-temperature/kxhighny-26',
    'event kalshi:KXHIGHNY-26',
  ],
  ['an address of Polymarket', 'https://polymarket.com/event/nation-votes/ann-wins?tid=1', ANN],
  ['an address of an event', 'polymarket.com/event/nation-votes', VOTE],
  ['an address of Limitless', 'https://limitless.exchange/markets/btc-above-90k', 'market limitless:btc-above-90k'],
];
test.each(TYPED)('%s finds what is meant, first', async (_kind, q, first) => {
  expect((await typed(q))[0]).toBe(first);
});

test('a market of Limitless is asked for by its condition id, in any case', async () => {
  const id = `0x${CLUB_CONDITION.slice(2).toUpperCase()}`;
  for (const given of [id, `limitless:${id}`]) {
    const { markets } = await store.get<{ markets: { id: string }[] }>(`markets/id/${given}?provider=limitless`);
    expect(markets.map((one) => one.id)).toEqual(['limitless:president-of-the-club']);
  }
});

const BOB_AND_ANN = [ANN, 'market polymarket:802'];
test('a last word of one or two letters is left out while nothing has it beside the other words', async () => {
  expect(await typed('temperature in new y', '&types=markets')).toEqual([NEW_YORK]);
  expect(await typed('will president b', '&types=markets')).toEqual(BOB_AND_ANN);
  expect(await typed('will president b', '&types=markets&sort=volume_24h')).toEqual(BOB_AND_ANN);
  expect(await typed('zebra i')).toEqual([]);
  expect(await typed('y')).toEqual([]);
});

test('a last word of one or two letters that something has beside the other words is needed, over all types', async () => {
  const found = ['market polymarket:802', 'market polymarket:801'];
  // Both titles have "be"; of the event and the series, which have not, none is shown.
  expect((await typed('president be', `&${ALL}`)).toSorted()).toEqual(found.toSorted());
  expect(await typed('president of', '&types=markets')).toEqual(['market limitless:president-of-the-club']);
});

test('the best match comes first over all types and platforms, then the most traded', async () => {
  const { results, pagination } = await ask(`q=president&${ALL}`);
  expect(results.map(({ type, id, match }) => [type, id, match])).toEqual([
    // Titles that begin with it, by volume in USD: the event has 1000.
    ['event', 'polymarket:nation-votes', 'prefix'],
    ['market', 'limitless:president-of-the-club', 'prefix'],
    ['series', 'polymarket:s9', 'prefix'],
    ['market', 'polymarket:801', 'words'],
    ['market', 'polymarket:802', 'words'],
  ]);
  expect(pagination.total).toBe(5);
  expect(results[0]?.event).toMatchObject({
    volume_24h_usd: 1000,
    markets_count: 2,
    usd_markets: { volume_24h: 2 },
    market_ids: ['801', '802'],
  });
  expect(results[2]?.series).toMatchObject({ events_count: 1, open_events: 1 });
  expect(results[3]).toMatchObject({ title: 'Will Ann Müller be president?', subtitle: 'Presidential election' });
});

test('without a text everything is listed, the most traded in USD first, the unknown last', async () => {
  expect(await shown('types=markets')).toEqual([
    ANN,
    'market limitless:president-of-the-club',
    'market polymarket:802',
    'market limitless:btc-above-90k',
    NEW_YORK,
  ]);
  expect((await ask('q=')).pagination.total).toBe(7);
  expect(await shown('types=events&platform=kalshi')).toEqual(['event kalshi:KXHIGHNY-26']);
  expect((await ask('')).results.every(({ match }) => match === null)).toBe(true);
});

test('filters and orders are those of GET markets', async () => {
  expect(await typed('president', '&types=markets&category=sports&sort=volume_24h&platform=limitless')).toEqual([
    'market limitless:president-of-the-club',
  ]);
  expect(await typed('', '&status=settled')).toEqual([]);
  expect(await typed('', '&event_id=nation-votes&platform=polymarket&types=markets,series')).toEqual([
    ANN,
    'market polymarket:802',
  ]);
});

test('an event is asked for by its id in any spelling that its platform takes, with the platform or without', async () => {
  for (const id of ['KXHIGHNY-26', 'kxhighny-26', 'kalshi:kxhighny-26'])
    for (const rest of ['', '&platform=kalshi', '&q=temperature'])
      expect([id, rest, ...(await shown(`event_id=${id}&types=markets${rest}`))]).toEqual([id, rest, NEW_YORK]);
  expect(await shown('event_id=nation-votes&types=markets')).toEqual([ANN, 'market polymarket:802']);
  expect(await shown('event_id=a%20b&types=markets')).toEqual([]);
});

test('events go by their number of markets, the most first, and other types are refused that order', async () => {
  expect(await shown('types=events&sort=markets')).toEqual([VOTE, 'event kalshi:KXHIGHNY-26']);
  expect(await typed('nation', '&types=events&sort=markets')).toEqual([VOTE]);
  await expect(shown('sort=markets')).rejects.toThrow(/sort.*types=events/s);
});

test('a wallet is found by its address, once it has traded', async () => {
  const { results, pagination } = await ask(`q=${WALLET.toUpperCase().replace('X', 'x')}&${ALL}`);
  expect(results).toMatchObject([{ type: 'wallet', id: WALLET, subtitle: 'ann', match: 'id', wallet: { trades: 1 } }]);
  expect(pagination.total).toBe(1);
  expect((await ask(`q=0x${'6b'.repeat(20)}&${ALL}`)).results).toEqual([]);
});

test('pages join without a seam over types while volumes move and markets appear', async () => {
  const whole = await typed('president', `&${ALL}`);
  const joined: string[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page: Found = await ask(`q=president&${ALL}&limit=1${cursor === null ? '' : `&cursor=${cursor}`}`);
    joined.push(...page.results.map(({ type, id }) => `${type} ${id}`));
    expect(page.pagination.total).toBe(5);
    cursor = page.pagination.next_cursor;
    pages += 1;
    await store.list(
      listed({ platform: 'limitless', ref: `president-${pages}`, title: `President ${pages}`, volume: '9999' }),
      listed({ ...rows[4]!.info, volume: String(pages * 1000) }),
      listed({ ...election, ...rows[1]!.info, volume: String(2000 * pages) }),
    );
  } while (cursor !== null && pages < 20);
  expect(joined).toEqual(whole);
});

test('too long a text, an unknown type and a foreign cursor get 400 that names the field', async () => {
  const { key } = await store.app.newKey('pro');
  const asked = async (query: string) =>
    (await store.app.app.inject({ url: `/v1/api/search?${query}`, headers: { 'x-api-key': key } })).json<{
      error: { status: number; error_text: string };
    }>().error;
  expect(await asked(`q=${'a'.repeat(201)}`)).toMatchObject({ status: 400, error_text: expect.stringMatching(/^q: /) });
  expect(await asked('types=people')).toMatchObject({ status: 400, error_text: expect.stringMatching(/^types/) });
  expect(await asked('cursor=abcd')).toMatchObject({ status: 400, error_text: expect.stringMatching(/^cursor/) });
});

test('hostile texts cost bounded time and find nothing', async () => {
  for (const q of [
    "' OR 1=1 --",
    '%'.repeat(200),
    '((((((|&!:*',
    '\\'.repeat(100),
    '\u0000',
    'a '.repeat(100).trim(),
  ]) {
    const begun = performance.now();
    await typed(q, `&${ALL}`);
    expect(performance.now() - begun).toBeLessThan(5000);
  }
});

test('an event that a market leaves, and the one that it joins, are sums over their markets now', async () => {
  const moved = listed({
    ...election,
    ...rows[1]!.info,
    eventId: 'other-votes',
    eventName: 'Other votes',
    volume: '5',
  });
  await store.list(moved);
  const [event] = (await ask('q=other-votes&types=events')).results;
  expect(event?.event).toMatchObject({ markets_count: 1, volume_24h_usd: 5 });
  const [left] = (await ask('q=nation-votes&types=events')).results;
  expect(left?.event?.markets_count).toBe(1);
});

test('a page that a wallet fills is followed by the rest', async () => {
  await store.list(listed({ platform: 'limitless', ref: 'seller', title: `Does ${WALLET} sell?` }));
  const path = `q=${WALLET}&${ALL}&limit=1`;
  const { results, pagination } = await ask(path);
  expect(results).toMatchObject([{ type: 'wallet' }]);
  expect(pagination).toMatchObject({ total: 2, has_more: true });
  const next = await ask(`${path}&cursor=${pagination.next_cursor}`);
  expect(next.results).toMatchObject([{ id: 'limitless:seller' }]);
  expect(next.pagination).toMatchObject({ total: 2, has_more: false });
});

test('without a platform, what is asked for is that of the enabled platforms, and so is its freshness', async () => {
  await store.cover('polymarket', Date.now() - 60_000, Date.now());
  const { clickhouse, app } = store;
  const { postgres } = app;
  const own = await startTestApp({ clickhouse, postgres, env: { PLATFORMS: 'polymarket' } });
  onTestFinished(() => own.close());
  const { key } = await own.newKey('pro');
  const get = async (path: string) => (await own.app.inject({ url: path, headers: { 'x-api-key': key } })).json();
  const found = await get('/v1/api/search?q=president');
  expect(found.meta.platforms_queried).toEqual(['polymarket']);
  expect(new Set(found.results.map(({ platform }: { platform: string }) => platform))).toEqual(new Set(['polymarket']));
  const { meta } = await get(`/v1/api/wallets/${WALLET}`);
  expect(meta).toMatchObject({ platforms: ['polymarket'], data_freshness: expect.any(String) });
});

test('a list of wallets holds the markets in which one of them took a trade, in the order asked for, page by page', async () => {
  const other = `0x${'6b'.repeat(20)}`;
  const trader = { address: other, name: '', pseudonym: '', profileImage: '' };
  await store.trade(
    ...[rows[1]!, rows[3]!].map((of) => trade({ of, atMs: Date.now() - 4000, price: '0.4', size: '10', trader })),
  );
  const both = `types=markets&addresses=${WALLET},${other.toUpperCase().replace('0X', '0x')}`;
  const all = ['market polymarket:801', 'market limitless:president-of-the-club', 'market polymarket:802'];
  expect(await shown(both)).toEqual(all);
  expect(await shown(`types=markets&addresses=${WALLET}`)).toEqual(['market polymarket:801']);
  expect(await shown(`types=markets&addresses=0x${'7c'.repeat(20)}`)).toEqual([]);
  expect(await shown(`${both}&platform=limitless`)).toEqual([all[1]]);
  expect(await shown(`${both}&q=bob`)).toEqual(['market polymarket:802']);
  const first = await ask(`${both}&limit=2`);
  expect(first.pagination).toMatchObject({ total: 3, has_more: true });
  expect(await shown(`${both}&limit=2&cursor=${first.pagination.next_cursor}`)).toEqual([all[2]]);
  const { key } = await store.app.newKey('pro');
  const refused = async (query: string) =>
    (await store.app.app.inject({ url: `/v1/api/search?${query}`, headers: { 'x-api-key': key } })).json().error;
  expect(await refused(`addresses=${WALLET}`)).toMatchObject({
    status: 400,
    error_text: expect.stringMatching(/^addresses: .*types=markets/),
  });
  expect(await refused('types=markets&addresses=0x12')).toMatchObject({
    status: 400,
    error_text: expect.stringMatching(/^addresses: 1 to 100 addresses of 0x and 40 hex digits/),
  });
});

/** The first row of a search of markets, and the rows of the next page. */
async function twoPages(q: string, between?: () => Promise<unknown>): Promise<string[]> {
  const asked = `q=${encodeURIComponent(q)}&types=markets`;
  const first = await ask(`${asked}&limit=1`);
  await between?.();
  const rest = await ask(`${asked}&cursor=${first.pagination.next_cursor}`);
  return [...first.results, ...rest.results].map(({ id }) => id);
}

test('all pages leave out the last word if the first one did', async () => {
  const late = listed({ platform: 'limitless', ref: 'late-one', title: 'Will a president x appear?' });
  const found = ['polymarket:801', 'polymarket:802'];
  expect(await twoPages('will president x')).toEqual(found);
  expect(await twoPages('will president x', () => store.list(late))).toEqual(found);
  expect(await typed('will president x', '&types=markets')).toEqual(['market limitless:late-one']);
});

test('kinds that differ are rows of one table: each has its own columns, and those of the others are empty', async () => {
  const query = `search?types=wallets&q=${WALLET}`;
  const found = await store.get<Found>('search?types=markets,events,series');
  const { key } = await store.app.newKey('pro');
  const as = async (accept: string, path: string) => {
    const reply = await store.app.app.inject({ url: `/v1/api/${path}`, headers: { 'x-api-key': key, accept } });
    expect(reply.headers['content-type']).toContain(accept);
    return reply;
  };
  const lines = (await as('application/x-ndjson', 'search?types=markets,events,series')).body.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(found.results);
  const table = (await as('text/csv', 'search?types=markets,events,series')).body;
  const names = table.slice(0, table.indexOf('\r\n')).split(',');
  expect(names.slice(0, 6)).toEqual(['type', 'id', 'title', 'subtitle', 'match', 'platform']);
  expect(names).toEqual(expect.arrayContaining(['market_volume_24h', 'event_markets_count', 'series_frequency']));
  expect(names.filter((name, at) => names.indexOf(name) !== at || name.startsWith('wallet_'))).toEqual([]);
  const wallet = (await as('text/csv', query)).body.split('\r\n');
  expect(wallet[0]).toMatch(/,platform,wallet_address,/);
  expect(wallet[1]).toMatch(`wallet,${WALLET},`);
  const file = await as('application/vnd.apache.parquet', 'search?types=markets,events');
  expect(file.rawPayload.subarray(0, 4).toString()).toBe('PAR1');
});
