import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { eventImage } from '../../src/markets/event-images.ts';
import type { PlatformData, ReadContext } from '../../src/platforms/contract.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { readContext } from '../fixtures/canned-http.ts';
import { type MarketStore, market, startMarketStore } from '../helpers/market-store.ts';
import { silent } from '../helpers/silent-log.ts';

const of = (ref: string, eventId: string) => market({ platform: 'kalshi', ref, eventId });
const asked: string[] = [];
const users: unknown[] = [];
const data = {
  platform: 'kalshi',
  eventImage: async (eventId: string, { user }: ReadContext) => {
    asked.push(eventId);
    users.push(user);
    return eventId === 'PLAIN' ? '' : `https://images.example.com/${eventId}.webp`;
  },
} as unknown as PlatformData;

let store: MarketStore;
beforeAll(async () => {
  store = await startMarketStore({ platforms: { kalshi: data } });
  await store.list(of('A-1', 'A'), of('A-2', 'A'), of('B-1', 'B'), of('PLAIN-1', 'PLAIN'));
});
afterAll(() => store?.close());

interface Listed {
  markets: { platform_id: string; image_url: string }[];
}
const images = async () => {
  await store.app.deps.present.settled();
  const { markets } = await store.get<Listed>('markets?provider=kalshi&sort=created');
  return Object.fromEntries(markets.map((row) => [row.platform_id, row.image_url]));
};
const IMAGE = 'https://images.example.com/A.webp';
/** An answer waits a second for the image, a later one has it. */
const comes = (id: string) =>
  expect.poll(async () => (await store.get<Listed>(`markets/id/${id}?provider=kalshi`)).markets[0]?.image_url, {
    timeout: 20_000,
  });

test('a market that is asked for brings the image of its event, which its siblings have from then on', async () => {
  await comes('A-1').toBe(IMAGE);
  expect(await images()).toEqual({ 'A-1': IMAGE, 'A-2': IMAGE, 'B-1': '', 'PLAIN-1': '' });
  await store.get<Listed>('markets/id/A-2?provider=kalshi');
  expect(asked).toEqual(['A']);
  // The read counts against the share of who asked.
  expect(users).toEqual([expect.stringMatching(/.+/)]);
});

test('a sibling that is listed later takes the image that is stored', async () => {
  await store.list(of('A-3', 'A'));
  await comes('A-3').toBe(IMAGE);
  expect(asked).toEqual(['A']);
});

test('an image stays when the market is listed again without one', async () => {
  await store.list(market({ platform: 'kalshi', ref: 'A-1', eventId: 'A', title: 'Another title' }));
  expect(await images()).toMatchObject({ 'A-1': IMAGE });
});

test('an event that is asked for brings its image, to its markets too', async () => {
  const image_url = 'https://images.example.com/B.webp';
  const shown = async () => {
    const { event, markets } = await store.get<Listed & { event: { image_url: string } }>('events/B?provider=kalshi');
    return [event.image_url, ...markets.map((one) => one.image_url)];
  };
  // An answer waits a second for it, a later one has it.
  await expect.poll(shown, { timeout: 20_000 }).toEqual([image_url, image_url]);
  const { events } = await store.get<{ events: { event_id: string; image_url: string }[] }>('events?provider=kalshi');
  expect(events.find(({ event_id: id }) => id === 'B')).toMatchObject({ image_url });
  expect(asked).toContain('B');
});

test('an event without an image is asked for once', async () => {
  const shared = createLocalShared(silent, systemClock);
  const deps = { clickhouse: store.clickhouse, shared, present: store.app.deps.present };
  for (let times = 0; times < 3; times += 1) expect(await eventImage(deps, data, 'PLAIN', readContext())).toBe('');
  expect(asked.filter((id) => id !== 'B')).toEqual(['A', 'PLAIN']);
  await shared.close();
});

/** A store without images that counts what is written to it. */
const counted = (onWrite: () => void) => ({ query: async () => [], run: async () => onWrite() });

test('many requests at a time write the image once', async () => {
  const shared = createLocalShared(silent, systemClock);
  let writes = 0;
  const clickhouse = counted(() => (writes += 1)) as unknown as typeof store.clickhouse;
  const read = () => eventImage({ clickhouse, shared, present: store.app.deps.present }, data, 'BUSY', readContext());
  for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 20 }, read));
  // One statement for markets and one for events.
  expect(writes).toBe(2);
  await shared.close();
});
