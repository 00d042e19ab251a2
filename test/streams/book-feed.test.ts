import { expect, onTestFinished, test } from 'vitest';
import { pino } from 'pino';
import type { AnnouncedBook } from '../../src/books/announcer.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { BookFeed } from '../../src/streams/book-feed.ts';
import { BookFollower } from '../../src/streams/books.ts';
import type { StreamFilter } from '../../src/streams/filter.ts';
import { MARKET } from '../helpers/market-of-streams.ts';

const log = pino({ level: 'silent' });

/** A follower of a store that holds nothing; books come by announcement alone. */
async function rigOf(market: StoredMarket = MARKET) {
  const shared = createLocalShared(log);
  const clickhouse = { query: async () => [] } as unknown as ClickHouse;
  const follower = new BookFollower({ clickhouse, shared, log });
  await follower.listen(shared);
  onTestFinished(() => follower.close());
  const filter: StreamFilter = {
    channels: ['books'],
    platforms: ['kalshi'],
    markets: new Map([['kalshi', new Set([market.ref])]]),
    eventId: null,
    minSize: null,
    minNotional: null,
    books: { markets: [{ market, key: '1' }], depth: null },
  };
  const open = () => {
    const events: { name: string; data: Record<string, unknown> }[] = [];
    const feed = new BookFeed(follower, filter, {
      isBehind: () => false,
      event: (name, data) => events.push({ name, data: JSON.parse(data) as Record<string, unknown> }),
    });
    onTestFinished(() => feed.close());
    return { feed, events, names: () => events.map(({ name }) => name) };
  };
  const announce = (sequence: number, size: string): Promise<void> => {
    const [exchange_at, received_at] = [null, new Date().toISOString()];
    const levels: AnnouncedBook['levels'] = [['bid', '0.4', size]];
    const names = { platform: market.platform, ref: market.ref };
    const message = { ...names, sequence, begins: sequence === 1, exchange_at, received_at, levels };
    return shared.publish('book_messages', JSON.stringify([message]));
  };
  return { shared, open, announce };
}

test('a stream that is closed twice does not end the one that came in its place', async () => {
  const { open, announce } = await rigOf();
  const first = open();
  await new Promise((resolve) => setImmediate(resolve));
  await announce(1, '5');
  await expect.poll(first.names).toEqual(['book']);
  first.feed.close();
  const second = open();
  await new Promise((resolve) => setImmediate(resolve));
  await announce(1, '5');
  await expect.poll(second.names).toEqual(['book']);
  first.feed.close();
  await announce(2, '6');
  await expect.poll(second.names).toEqual(['book', 'book_change']);
});
