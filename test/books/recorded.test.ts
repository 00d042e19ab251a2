import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BookPoller } from '../../ingest/books/poller.ts';
import { BookRecorder } from '../../src/books/recorder.ts';
import { PLATFORMS } from '../../src/core/model.ts';
import { StoredMarkets } from '../../src/markets/directory.ts';
import { type BookWorld, startBookWorld } from '../helpers/book-worlds.ts';
import { type IngestRig, startIngestRig } from '../helpers/ingest-rig.ts';

const RECORDED = 4;
const log = pino({ level: 'silent' });

interface Level {
  price: number;
  size: number;
}
interface LevelText {
  price: string;
  size: string;
}
const textOf = (levels: readonly LevelText[] = []) => new Map(levels.map(({ price, size }) => [price, size]));

const levelsOf = (side: Map<string, string>, sign: number): Level[] =>
  Array.from(side, ([price, size]) => ({ price: Number(price), size: Number(size) })).toSorted(
    (a, b) => sign * (a.price - b.price),
  );

/** A polled instant: when it was over, and the first outcome's book of each market then. */
interface Instant {
  atMs: number;
  books: Map<string, { bids: Level[]; asks: Level[] }>;
}
interface ChangeRow {
  n: string;
  side: 'bid' | 'ask';
  price: string;
  size: string;
}

describe.each(PLATFORMS)('recorded books of %s', (platform) => {
  let world: BookWorld;
  let rig: IngestRig;
  let recorder: BookRecorder;
  const instants: Instant[] = [];

  const pollerOf = (record = RECORDED, markets: string[] = []) =>
    new BookPoller({
      clickhouse: rig.clickhouse,
      recorder,
      data: rig.data,
      directory: new StoredMarkets(rig.clickhouse, async () => null),
      config: { BOOKS_RECORD: record, BOOKS_MARKETS: markets },
      now: Date.now,
    });

  /** Polls, and notes what the world was. */
  const poll = async (poller: BookPoller): Promise<void> => {
    await poller.read(rig.run);
    const books = new Map(recorder.wanted(platform).map((ref) => [ref, world.book(ref).yes]));
    instants.push({ atMs: Date.now(), books });
    await sleep(5);
  };

  beforeAll(async () => {
    world = await startBookWorld(platform, { seed: 5, markets: 20, tradesPerMarket: 6, historyDays: 1 });
    rig = await startIngestRig(world.sim, platform);
    await rig.list();
    recorder = new BookRecorder({ clickhouse: rig.clickhouse, log });
    const poller = pollerOf();
    for (let n = 0; n < 5; n += 1) {
      await poll(poller);
      world.sim.trade(40);
    }
    // A process that takes over.
    await recorder.close();
    recorder = new BookRecorder({ clickhouse: rig.clickhouse, log });
    const next = pollerOf();
    for (let n = 0; n < 3; n += 1) {
      await poll(next);
      world.sim.trade(40);
    }
    await recorder.flush();
  }, 120_000);

  afterAll(async () => {
    await recorder.close();
    await rig.close();
    await world.sim.close();
  });

  test('are, at every polled instant, the books of the platform', async () => {
    let changed = 0;
    for (const { atMs, books } of instants) {
      expect(books.size).toBe(RECORDED);
      for (const [ref, book] of books) {
        const [snapshot] = await rig.clickhouse.sql<{
          n: string;
          bids: LevelText[];
          asks: LevelText[];
        }>(
          `SELECT toString(sequence) AS n, bids, asks FROM v_books
          WHERE market_key = sipHash64({platform:String}, {ref:String}) AND begins
            AND received_at <= fromUnixTimestamp64Milli({at:Int64}) ORDER BY sequence DESC LIMIT 1`,
          { platform, ref, at: atMs },
        );
        const changes = await rig.clickhouse.sql<ChangeRow>(
          `SELECT toString(sequence) AS n, side, price, size FROM v_book_changes
          WHERE market_key = sipHash64({platform:String}, {ref:String}) AND sequence > {after:UInt64}
            AND received_at <= fromUnixTimestamp64Milli({at:Int64}) ORDER BY sequence`,
          { platform, ref, at: atMs, after: snapshot?.n },
        );
        changed += changes.length;
        const sides = { bid: textOf(snapshot?.bids), ask: textOf(snapshot?.asks) };
        for (const { side, price, size } of changes) {
          if (Number(size) === 0) sides[side].delete(price);
          else sides[side].set(price, size);
        }
        expect({ bids: levelsOf(sides.bid, -1), asks: levelsOf(sides.ask, 1) }).toEqual({
          bids: book.bids,
          asks: book.asks,
        });
      }
    }
    expect(changed).toBeGreaterThan(0);
  });

  test('begin anew with a process that takes over: a gap, a whole book, and no change twice', async () => {
    const [{ gaps = '', starts = '' } = {}] = await rig.clickhouse.sql<{ gaps: string; starts: string }>(
      `SELECT (SELECT countIf(reason = 'not recorded' AND from_at < to_at) FROM v_book_gaps) AS gaps,
        (SELECT countIf(begins) FROM v_books) AS starts`,
    );
    expect([Number(gaps), Number(starts)]).toEqual([RECORDED, 2 * RECORDED]);
    // What happened while nobody looked is no change of this moment.
    const [{ during = '', doubled = '' } = {}] = await rig.clickhouse.sql<{ during: string; doubled: string }>(
      `SELECT countIf(c.received_at > g.from_at AND c.received_at <= g.to_at) AS during,
        count() - uniqExact(market_key, sequence, side, price) AS doubled
      FROM book_changes AS c INNER JOIN v_book_gaps AS g USING (market_key)`,
    );
    expect([Number(during), Number(doubled)]).toEqual([0, 0]);
  });

  test('have their depth by the minute', async () => {
    // The newest snapshots are those with which the second process began.
    const last = instants[5];
    const [ref = '', book] =
      [...(last?.books ?? [])].find(([, { bids, asks }]) => bids.length > 0 && asks.length > 0) ?? [];
    const [row] = await rig.clickhouse.sql<Record<string, string>>(
      `SELECT middle, bid_size_5c, ask_size_5c FROM v_depth
      WHERE market_key = sipHash64({platform:String}, {ref:String}) ORDER BY minute DESC LIMIT 1`,
      { platform, ref },
    );
    const [bid = 0, ask = 0] = [book?.bids[0]?.price, book?.asks[0]?.price];
    expect(row).toBeDefined();
    expect(bid).toBeLessThan(ask);
    expect(Number(row?.['middle'])).toBeCloseTo((bid + ask) / 2, 9);
  });

  test('hold the markets of BOOKS_MARKETS too', async () => {
    const [{ id = '', ref = '' } = {}] = await rig.clickhouse.sql<{ id: string; ref: string }>(
      `SELECT id, ref FROM v_markets WHERE status = 'open' AND ref NOT IN {known:Array(String)} ORDER BY id LIMIT 1`,
      { known: [...recorder.wanted(platform)] },
    );
    await pollerOf(0, [id]).read(rig.run);
    expect(recorder.wanted(platform)).toEqual([ref]);
  });
});
