import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/time.ts';
import { BookPoller } from '../../../ingest/books/poller.ts';
import type { BookMessage } from '../../../src/books/messages.ts';
import { StreamedBooks } from '../../../src/books/wanted.ts';
import { BookRecorder } from '../../../src/books/recorder.ts';
import { PLATFORMS } from '../../../src/core/model.ts';
import { StoredMarkets } from '../../../src/markets/directory.ts';
import type { ServedBook } from '../../oracle/book.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type BookWorld, startBookWorld } from '../../helpers/book-worlds.ts';
import { type IngestRig, startIngestRig } from '../../helpers/ingest-rig.ts';

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
  books: Map<string, ServedBook>;
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
  let app: TestApp;
  let key = '';
  const instants: Instant[] = [];

  const pollerOf = (record = RECORDED, markets: string[] = []) =>
    new BookPoller({
      lists: rig.clickhouse,
      recorder,
      data: rig.data,
      directory: new StoredMarkets(rig.clickhouse, async () => null),
      config: { BOOKS_RECORD: record, BOOKS_MARKETS: markets },
      clock: systemClock,
      streamed: new StreamedBooks(systemClock),
      liveBooks: { book: () => null, compare: () => false },
    });

  /** Polls, and notes what the world was. */
  const poll = async (poller: BookPoller): Promise<void> => {
    await poller.read(rig.run);
    const books = new Map(recorder.wanted().map((ref) => [ref, world.book(ref)]));
    instants.push({ atMs: Date.now(), books });
    await sleep(5);
  };

  beforeAll(async () => {
    world = await startBookWorld(platform, { seed: 5, markets: 20, tradesPerMarket: 6, historyDays: 1 });
    rig = await startIngestRig(world.sim, platform);
    await rig.list();
    recorder = new BookRecorder({ clock: systemClock, clickhouse: rig.clickhouse, log, platform, announce: () => {} });
    const poller = pollerOf();
    for (let n = 0; n < 5; n += 1) {
      await poll(poller);
      world.sim.trade(40);
    }
    // A process that takes over.
    await recorder.close();
    recorder = new BookRecorder({ clock: systemClock, clickhouse: rig.clickhouse, log, platform, announce: () => {} });
    const next = pollerOf();
    for (let n = 0; n < 3; n += 1) {
      await poll(next);
      world.sim.trade(40);
    }
    await recorder.flush();
    app = await startTestApp({ clickhouse: rig.clickhouse });
    ({ key } = await app.newKey('pro'));
  }, 120_000);

  const ask = async (path: string, status = 200, accept = 'application/json', more = {}) => {
    const url = `/v1/api/markets/id/${encodeURIComponent(path.split('?')[0] ?? '').replace('%2F', '/')}?${path.split('?')[1]}`;
    const reply = await app.app.inject({ url, headers: { 'x-api-key': key, accept, ...more } });
    if (reply.statusCode !== status) throw new Error(`${url} answered ${reply.statusCode} ${reply.body}`);
    return reply;
  };
  const bookAt = async (ref: string, atMs: number) =>
    (await ask(`${ref}/orderbook?provider=${platform}&at=${new Date(atMs).toISOString()}`)).json<{
      data: ServedBook & { metadata: object };
      meta: { recorded: { from: string; to: string; gap: { from: string; to: string; reason: string } | null } };
    }>();

  afterAll(async () => {
    await app.close();
    await recorder.close();
    await rig.close();
    await world.sim.close();
  });

  test('are, at every polled instant, the books of the platform', async () => {
    let changed = 0;
    for (const { atMs, books } of instants) {
      expect(books.size).toBe(RECORDED);
      for (const [ref, { yes: book }] of books) {
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

  test('restart with a process that takes over: a gap, a whole book, and no change twice', async () => {
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
    const found = [...(last?.books ?? [])].find(([, { yes }]) => yes.bids.length > 0 && yes.asks.length > 0);
    const [ref = '', book] = [found?.[0], found?.[1].yes];
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
      { known: [...recorder.wanted()] },
    );
    await pollerOf(0, [id]).read(rig.run);
    expect(recorder.wanted()).toEqual([ref]);
  });

  test('are answered for any instant, with what is recorded; 404 says from when on', async () => {
    for (const { atMs, books } of instants) {
      for (const [ref, { yes, no }] of books) {
        const { data, meta } = await bookAt(ref, atMs);
        expect({ yes: data.yes, no: data.no }).toEqual({ yes, no });
        expect(data.metadata).toMatchObject({ min_order_size: null, tick_size: null });
        // Until the first process ended; a book that did not change has no row of its last poll.
        if (atMs >= (instants[5]?.atMs ?? 0)) expect(meta.recorded.gap).toBeNull();
      }
    }
    const [first] = instants;
    const [ref = ''] = first?.books.keys() ?? [];
    const { meta } = await bookAt(ref, Date.now());
    const early = await ask(`${ref}/orderbook?provider=${platform}&at=${Date.parse(meta.recorded.from) - 1}`, 404);
    expect(early.body).toContain(`from ${meta.recorded.from} on`);
    const far = await ask(`${ref}/orderbook?provider=${platform}&at=${Date.now() + 60_000}`, 400);
    expect(far.body).toContain('at: ');
  });

  test('say in a gap that they are of before it', async () => {
    const [ref = ''] = instants[0]?.books.keys() ?? [];
    const [gap] = await rig.clickhouse.sql<{ from_ms: string }>(
      `SELECT toUnixTimestamp64Milli(from_at) AS from_ms FROM v_book_gaps
      WHERE market_key = sipHash64({platform:String}, {ref:String})`,
      { platform, ref },
    );
    const { meta, data } = await bookAt(ref, Number(gap?.from_ms) + 1);
    expect(meta.recorded.gap).toMatchObject({ reason: 'not recorded' });
    expect(data.yes).toEqual(instants[4]?.books.get(ref)?.yes);
  });

  test.each([
    ['orderbook', 'application/json'],
    ['book-changes', 'application/json'],
    ['book-changes', 'application/x-ndjson; profile=tardis'],
  ])('are not sent again to a caller that has them: %s as %s', async (name, accept) => {
    const [first] = instants;
    const [ref = ''] = first?.books.keys() ?? [];
    const span = name === 'orderbook' ? `at=${first?.atMs}` : 'limit=2';
    const path = `${ref}/${name}?provider=${platform}&${span}`;
    const { headers, body } = await ask(path, 200, accept);
    const has = { 'if-none-match': String(headers.etag) };
    const again = await ask(path, 304, accept, has);
    expect([again.body, again.headers.etag, again.headers.vary]).toEqual(['', headers.etag, headers.vary]);
    const other = await ask(
      path.replace('limit=2', 'limit=1').replace(`${first?.atMs}`, `${instants.at(-1)?.atMs}`),
      200,
      accept,
      has,
    );
    expect(other.body).not.toBe(body);
  });

  test('have their changes page by page, once each, from a whole book on, and as tardis.dev writes them', async () => {
    for (const [ref, book] of instants.at(-1)?.books ?? []) {
      const seen: BookMessage[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: { book_changes: BookMessage[]; pagination: { total: number; next_cursor: string | null } } = (
          await ask(`${ref}/book-changes?provider=${platform}&limit=2&cursor=${cursor}`)
        ).json();
        seen.push(...page.book_changes);
        cursor = page.pagination.next_cursor;
        if (cursor === null) expect(seen).toHaveLength(page.pagination.total);
      }
      expect(seen.map(({ sequence }) => sequence)).toEqual(
        [...new Set(seen.map(({ sequence }) => sequence))].toSorted((a, b) => a - b),
      );
      const sides = { bid: new Map<number, number>(), ask: new Map<number, number>() };
      for (const { is_snapshot: isWhole, changes } of seen) {
        if (isWhole) for (const side of Object.values(sides)) side.clear();
        for (const { side, price, size } of changes) {
          if (size === 0) sides[side].delete(price);
          else sides[side].set(price, size);
        }
      }
      const bids = Array.from(sides.bid, ([price, size]) => ({ price, size })).toSorted((a, b) => b.price - a.price);
      expect(bids).toEqual(book.yes.bids);
      const lines = await ask(`${ref}/book-changes?provider=${platform}`, 200, 'application/x-ndjson; profile=tardis');
      const [head] = lines.body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(Object.keys(head ?? {})).toEqual([
        'type',
        'symbol',
        'exchange',
        'isSnapshot',
        'bids',
        'asks',
        'timestamp',
        'localTimestamp',
      ]);
      expect(head).toMatchObject({ type: 'book_change', exchange: platform, isSnapshot: true });
      expect(lines.body.trim().split('\n')).toHaveLength(seen.length);
    }
  });
});
