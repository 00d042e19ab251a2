import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import type { ClickHouse } from '../../../src/stores/clickhouse/client.ts';
import { createLocalShared } from '../../../src/stores/shared/local.ts';
import type { StreamFilter } from '../../../src/streams/filter.ts';
import { ALL } from '../../helpers/market-of-streams.ts';
import { virtualClock } from '../../helpers/virtual-clock.ts';
import { QuoteFeed, QuoteFollower, QUOTES_CHANNEL } from '../../../src/streams/quotes.ts';

const log = pino({ level: 'silent' });
const PLATFORM = 'kalshi';
const clock = virtualClock();

interface Sent {
  prices: { yes: { bid: number; bid_size: number | null } };
  volume_total: number | null;
}

/** A client of the quotes of one market, over a store of which the test writes the rows; `aheadMs`: of this machine's clock. */
async function clientOf({
  stored = '',
  aheadMs = 0,
  isNamed = false,
  eventId = null as string | null,
  pushedBefore = [] as number[],
} = {}) {
  const shared = createLocalShared(log, systemClock);
  let behindMs = aheadMs;
  const nowMs = (): number => clock.now() - behindMs;
  const row = (bid: string, volume: string | null = null) => ({
    platform: PLATFORM,
    ref: 'A',
    platform_id: 'A',
    event_id: 'KXEV',
    outcome_ids: ['yes'],
    prices: [null],
    bids: [bid],
    asks: [null],
    volume_total: volume,
    synced_at: new Date(clock.now()).toISOString(),
    written_ms: nowMs(),
  });
  let rows: ReturnType<typeof row>[] = [];
  const query = async (name: string, _: unknown, given?: { since_ms?: number }) => {
    if (name === 'store_clock') return [{ now_ms: nowMs() }];
    if (name === 'quotes_of') return stored === '' ? [] : [storedRow];
    return rows.filter(({ written_ms: writtenMs }) => writtenMs >= (given?.since_ms ?? 0));
  };
  const storedRow = row(stored);
  const follower = new QuoteFollower({ clock, clickhouse: { query } as unknown as ClickHouse, log });
  await follower.listen(shared);
  const push = (bid: number, volume: number | null = null): Promise<void> => {
    const data = {
      prices: { yes: { price: null, bid, ask: null, bid_size: 1, ask_size: null } },
      volume_total: volume,
      received_at: new Date(clock.now()).toISOString(),
    };
    return shared.publish(
      QUOTES_CHANNEL,
      JSON.stringify([{ platform: PLATFORM, ref: 'A', eventId: '', data: JSON.stringify(data) }]),
    );
  };
  for (const bid of pushedBefore) {
    await clock.advance(20);
    await push(bid);
  }
  const filter: StreamFilter = {
    ...ALL,
    channels: ['quotes'],
    platforms: [PLATFORM],
    markets: isNamed ? new Map([[PLATFORM, new Set(['A'])]]) : null,
    eventId,
  };
  const open = () => {
    const bids: number[] = [];
    const others: unknown[] = [];
    const feed = new QuoteFeed(follower, filter, {
      isBehind: () => false,
      event: (_name, text) => {
        const { prices, ...data } = JSON.parse(text) as Sent;
        bids.push(prices.yes.bid);
        others.push([data.volume_total, prices.yes.bid_size]);
      },
      flush: () => true,
    });
    onTestFinished(() => feed.close());
    return { bids, others, close: () => feed.close() };
  };
  return {
    ...open(),
    open,
    poll: (bid: string, volume?: string) => (rows = [row(bid, volume)]),
    setStoreBack: (ms: number) => (behindMs += ms),
    push,
  };
}

test('what polling finds behind a quote of a socket is sent once no newer one comes, and only if it differs', async () => {
  const { bids, poll, push } = await clientOf();
  poll('0.1');
  await clock.until(() => expect(bids).toEqual([0.1]), 10_000);
  await push(0.2);
  await clock.advance(20);
  poll('0.2');
  await clock.advance(1500);
  expect(bids).toEqual([0.1, 0.2]);
  poll('0.3');
  await clock.advance(3000);
  expect(bids).toEqual([0.1, 0.2]);
  await clock.until(() => expect(bids).toEqual([0.1, 0.2, 0.3]), 12_000);
});

test('a market that is back where polling last saw it is sent again behind a quote of a socket', async () => {
  const { bids, poll, push } = await clientOf();
  poll('0.1');
  await clock.until(() => expect(bids).toEqual([0.1]), 10_000);
  await push(0.2);
  await clock.advance(20);
  poll('0.1');
  await clock.until(() => expect(bids).toEqual([0.1, 0.2, 0.1]), 15_000);
});

test('the same, where the row from before that quote was read again in between', async () => {
  const { bids, poll, push } = await clientOf();
  poll('0.1');
  await clock.until(() => expect(bids).toEqual([0.1]), 10_000);
  await push(0.2);
  await clock.advance(1500);
  poll('0.1');
  await clock.until(() => expect(bids).toEqual([0.1, 0.2, 0.1]), 15_000);
});

test('a larger volume that polling finds behind a quote of a socket is sent with the sizes of the socket', async () => {
  const { bids, others, poll, push } = await clientOf();
  await push(0.2, 10.5);
  await clock.advance(20);
  poll('0.2', '10.5');
  await clock.advance(1500);
  poll('0.2', '9');
  await clock.advance(12_000);
  expect(bids).toEqual([0.2]);
  poll('0.2', '12.25');
  await clock.advance(12_000);
  expect(bids).toEqual([0.2, 0.2]);
  expect(others).toEqual([
    [10.5, 1],
    [12.25, 1],
  ]);
});

test('what polling has found and taken back behind a quote of a socket is not sent', async () => {
  const { bids, poll, push } = await clientOf();
  await push(0.2);
  await clock.advance(20);
  poll('0.3');
  await clock.advance(1500);
  poll('0.2');
  await clock.advance(12_000);
  expect(bids).toEqual([0.2]);
});

test('a market that polling saw leave the quote of a socket, and come back to it, is sent both times', async () => {
  const { bids, poll, push } = await clientOf();
  await push(0.2);
  await clock.advance(20);
  poll('0.3');
  await clock.until(() => expect(bids).toEqual([0.2, 0.3]), 15_000);
  poll('0.2');
  await clock.until(() => expect(bids).toEqual([0.2, 0.3, 0.2]), 15_000);
});

test('a market that is back where an earlier client saw it is sent again to the next client', async () => {
  const { bids, poll, close, open } = await clientOf();
  poll('0.4');
  await clock.until(() => expect(bids).toEqual([0.4]), 10_000);
  close();
  poll('0.41');
  await clock.advance(60_000);
  const next = open();
  await clock.advance(1500);
  expect(next.bids).toEqual([]);
  poll('0.4');
  await clock.until(() => expect(next.bids).toEqual([0.4]), 10_000);
});

test('a quote older than that of a socket is never sent', async () => {
  const { bids, poll, push } = await clientOf();
  poll('0.1');
  await clock.advance(20);
  await push(0.2);
  await clock.advance(12_000);
  expect(bids.at(-1)).toBe(0.2);
});

test('stored quotes are found by the clock of the store', async () => {
  const { bids, poll } = await clientOf({ aheadMs: 60_000 });
  await clock.advance(1200);
  poll('0.4');
  await clock.until(() => expect(bids).toEqual([0.4]), 10_000);
});

test('stored quotes are found at once after the clock of the store was set back', async () => {
  const { bids, poll, setStoreBack } = await clientOf();
  await clock.advance(200);
  poll('0.4');
  await clock.until(() => expect(bids).toEqual([0.4]), 10_000);
  setStoreBack(60_000);
  poll('0.5');
  await clock.until(() => expect(bids).toEqual([0.4, 0.5]), 10_000);
});

test('a market that is named begins with its stored quote', async () => {
  const { bids } = await clientOf({ stored: '0.7', isNamed: true });
  await clock.until(() => expect(bids).toEqual([0.7]), 10_000);
});

test('a market that is named begins with the quote of a socket that came before anyone listened', async () => {
  const { bids } = await clientOf({ stored: '0.7', isNamed: true, pushedBefore: [0.8, 0.9] });
  await clock.until(() => expect(bids).toEqual([0.9]), 10_000);
});

test('quotes of an event come whatever case its id is given in', async () => {
  const { bids, poll } = await clientOf({ eventId: 'kxev' });
  const other = await clientOf({ eventId: 'kxother' });
  for (const client of [poll, other.poll]) client('0.4');
  await clock.until(() => expect(bids).toEqual([0.4]), 10_000);
  await clock.advance(1200);
  expect(other.bids).toEqual([]);
});
