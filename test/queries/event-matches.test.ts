import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MarketRecord, type Platform } from '../../src/core/model.ts';
import { systemClock } from '../../src/core/time.ts';
import { type MarketStore, startMarketStore } from '../helpers/market-store.ts';
import { inRome, judgeAll, matcherOf } from '../helpers/matcher.ts';

interface Side {
  platform: string;
  event_id: string;
  event_name: string;
  without_partner: { id: string }[];
  without_partner_total: number;
}
interface Page {
  matches: object[];
  events: {
    is_whole: boolean;
    a: Side;
    b: Side;
    pairs: { match_id: string; relation: string; a: string; b: string }[];
  }[];
}

let store: MarketStore;
const candidate = (platform: Platform, ref: string, name: string, event: string, fields = {}): MarketRecord =>
  inRome(platform, ref, name, { eventId: event, eventName: `Italy, by ${platform}`, ...fields });

beforeAll(async () => {
  store = await startMarketStore();
  await store.list(
    candidate('kalshi', 'KABBOT', 'Ann Abbot', 'KITALY'),
    candidate('kalshi', 'KBAKER', 'Bob Baker', 'KITALY'),
    candidate('kalshi', 'KCOOK', 'Cid Cook', 'KITALY'),
    candidate('polymarket', 'p-abbot', 'Ann Abbot', 'p-italy'),
    candidate('polymarket', 'p-baker', 'Bob Baker', 'p-italy'),
    candidate('polymarket', 'p-dyer', 'Dan Dyer', 'p-italy'),
    candidate('polymarket', 'p-gone', 'Eve Early', 'p-italy', { state: { status: 'closed' } }),
    candidate('limitless', 'l-abbot', 'Ann Abbot', 'l-italy'),
  );
  await judgeAll(matcherOf(store.clickhouse, systemClock, store.present));
}, 120_000);
afterAll(() => store.close());

test('events match market by market, with the open markets that have no partner on either side', async () => {
  const { events } = await store.get<Page>('matches?event_id=KITALY&platform=kalshi');
  expect(events).toHaveLength(1);
  const [event] = events;
  expect(event?.pairs.map(({ a, relation, b }) => `${a} ${relation} ${b}`)).toEqual([
    'kalshi:KABBOT identical polymarket:p-abbot',
    'kalshi:KBAKER identical polymarket:p-baker',
  ]);
  expect(event).toMatchObject({
    is_whole: false,
    a: {
      platform: 'kalshi',
      event_id: 'KITALY',
      event_name: 'Italy, by kalshi',
      without_partner: [{ id: 'kalshi:KCOOK' }],
    },
    b: {
      platform: 'polymarket',
      event_id: 'p-italy',
      without_partner: [{ id: 'polymarket:p-dyer' }],
      without_partner_total: 1,
    },
  });
  const from = await store.get<Page>('matches?event_id=p-italy&platform=polymarket');
  expect(from.events).toEqual(events);
});

test('an event with a single question matches none, and a list without an event has no events', async () => {
  expect((await store.get<Page>('matches?event_id=l-italy')).events).toEqual([]);
  expect((await store.get<Page>('matches')).events).toEqual([]);
  expect((await store.get<Page>('matches?event_id=nothing')).events).toEqual([]);
});

test('events match as a whole once every open market has a partner', async () => {
  await store.list(
    candidate('kalshi', 'KDYER', 'Dan Dyer', 'KITALY'),
    candidate('kalshi', 'KCOOK', 'Cid Cook', 'KITALY', {
      state: { status: 'closed' },
      fetchedAt: new Date(Date.now() + 1000).toISOString(),
    }),
  );
  const matcher = matcherOf(store.clickhouse, systemClock, store.present);
  await matcher.step('kalshi', new AbortController().signal);
  const { events } = await store.get<Page>('matches?event_id=KITALY');
  expect(events[0]).toMatchObject({ is_whole: true, pairs: [{}, {}, {}] });
});
