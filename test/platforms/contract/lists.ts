import { foldText } from '../../../src/core/search-text.ts';
import { expect, test } from 'vitest';
import { MARKET_STATUSES } from '../../../src/core/model.ts';
import { largePage, type ServedMarket } from '../../oracle/pipeline.ts';
import { slugOf } from '../../oracle/vocabulary.ts';
import type { Stage } from './stage.ts';

const SORTS = ['volume_24h', 'liquidity', 'created'];

const idsOf = (rows: readonly ServedMarket[]): string[] => rows.map((row) => row.platform_id).toSorted();

const wordsOf = (text: string): string[] => foldText(text).split(' ');

/** Whether each word is in the title, the description, an id, the event or the category of the market, or begins a word there. */
const says = (row: ServedMarket, words: string): boolean => {
  const own = wordsOf([row.title, row.description, row.platform_id, row.slug, row.event_name, row.category].join(' '));
  return wordsOf(words).every((word) => own.some((one) => one === word || (word.length > 2 && one.startsWith(word))));
};

export function pageTests(stage: () => Stage): void {
  test('small pages of each sort repeat no market and miss none while trading goes on', async () => {
    const { service, provider, truth } = stage();
    const { sleep } = truth.clock.service;
    truth.clock.run();
    const before = idsOf(await stage().markets(''));
    const walked = new AbortController();
    const traders = (async () => {
      for (; !walked.signal.aborted; await sleep(200)) stage().trade(10);
    })();
    // Side by side, for the time it takes.
    const walking = SORTS.map(async (sort) => {
      const { rows, pages } = await service.markets(`${provider}&sort=${sort}`, 8, () => sleep(200));
      return { sort, rows, pages };
    });
    const walks = await Promise.all(walking).finally(() => walked.abort());
    await traders;
    truth.clock.stop();
    for (const { sort, rows, pages } of walks) {
      const ids = idsOf(rows);
      expect([sort, new Set(ids).size]).toEqual([sort, ids.length]);
      expect([sort, ...before.filter((id) => !ids.includes(id))]).toEqual([sort]);
      expect([sort, ...pages.map(({ total }) => total)]).toEqual([sort, ...pages.map(() => ids.length)]);
      expect([sort, ...pages.map((page) => page.has_more)]).toEqual([sort, ...pages.slice(1).map(() => true), false]);
      expect(pages.length).toBeGreaterThan(2);
    }
  });

  test('small pages of trades repeat none and miss none while trading goes on', async () => {
    const { service, truth } = stage();
    truth.clock.run();
    const [id = ''] = truth.trading();
    const before = await truth.trades(service, { id, limit: 100 + (largePage() % 100) });
    const { ids, pages } = await truth.trades(service, { id, limit: 7, between: () => stage().trade(15) });
    truth.clock.stop();
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.ids.filter((one) => !ids.includes(one))).toEqual([]);
    expect(pages.length).toBeGreaterThan(5);
  });
}

export function listTests(stage: () => Stage): void {
  test('filters and words find exactly the markets they name', async () => {
    // Where tests ran before, nothing is left to wait for.
    expect(await stage().eventually(() => stage().wrongMarkets())).toEqual([]);
    const all = await stage().markets('sort=created');
    const found = async (query: string) => [query, ...idsOf(await stage().markets(query))];
    const truth = (query: string, wanted: (row: ServedMarket) => boolean) => [query, ...idsOf(all.filter(wanted))];
    for (const status of MARKET_STATUSES) {
      const query = `status=${status}`;
      expect(await found(query)).toEqual(truth(query, (row) => row.status === status));
    }
    const event = stage().truth.event().id;
    const ofEvent = truth(`event_id=${event}`, (row) => row.event_id === event);
    expect(ofEvent.length).toBeGreaterThan(1);
    expect(await found(`event_id=${event}`)).toEqual(ofEvent);
    const category = all.find((row) => row.event_id === event)?.category ?? '';
    const query = `category=${slugOf(category)}`;
    expect(await found(query)).toEqual(truth(query, (row) => row.category === category));
    for (const words of stage().truth.words) {
      const query = `query=${encodeURIComponent(words)}`;
      const named = truth(query, (row) => says(row, words));
      expect(named.length).toBeGreaterThan(1);
      expect(await found(query)).toEqual(named);
      const open = `${query.toUpperCase().replace('QUERY', 'query')}&status=open`;
      expect(await found(open)).toEqual(truth(open, (row) => row.status === 'open' && says(row, words)));
    }
    expect(await stage().markets('query=nowherefound')).toEqual([]);
  });

  test('a list is the same in JSON, CSV and NDJSON, and is not sent again to who has it', async () => {
    const { service, provider } = stage();
    const path = `markets?${provider}&status=open&limit=${largePage()}`;
    const first = await service.fetch(path);
    const { markets } = (await first.json()) as { markets: ServedMarket[] };
    expect(markets.length).toBeGreaterThan(8);
    const etag = first.headers.get('etag') ?? '';
    const again = await service.fetch(path, { 'if-none-match': etag });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await service.fetch(path, { 'if-none-match': '"other"' })).status).toBe(200);
    const lines = await (await service.fetch(path, { accept: 'application/x-ndjson' })).text();
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(markets);
    const csv = await service.fetch(path, { accept: 'text/csv' });
    const text = (await csv.text()).trimEnd();
    const [header = ''] = text.split('\r\n', 1);
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
    const names = header.split(',');
    expect(names).toEqual(expect.arrayContaining(['id', 'outcomes', 'yes_price', 'yes_bid', 'yes_ask', 'no_price']));
    // Plain fields have the names of JSON.
    const plain = Object.entries(markets[0] ?? {}).filter(([, value]) => typeof value !== 'object');
    expect(names).toEqual(expect.arrayContaining(plain.map(([name]) => name)));
    // Texts may have line ends of their own: a record begins with its id.
    const ids = [...text.matchAll(new RegExp(`^(${stage().truth.platform}:[^,]+),`, 'gm'))].map(([, id]) => id);
    expect(ids).toEqual(markets.map(({ id }) => id));
    // Each of the three is known by an ETag of its own.
    const csvTag = csv.headers.get('etag') ?? '';
    expect(csvTag).not.toBe(etag);
    expect([csv.headers.get('vary'), first.headers.get('vary')]).toEqual(
      Array(2).fill(expect.stringMatching(/^accept\b(?!-)/)),
    );
    const statuses = ['text/csv', 'application/x-ndjson', 'application/json'].map(
      async (accept) => (await service.fetch(path, { accept, 'if-none-match': csvTag })).status,
    );
    expect(await Promise.all(statuses)).toEqual([304, 200, 200]);
  });
}
