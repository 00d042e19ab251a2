import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { BookPoller, type BookPollerDeps } from '../../ingest/books/poller.ts';
import type { JobRun } from '../../ingest/job-runner.ts';
import { type BookEvent, LiveBooks } from '../../ingest/live/live-books.ts';
import { applyChanges, bookChanges, copyBook } from '../../src/books/book.ts';
import type { BookSide } from '../../src/core/model.ts';
import type { PlatformData, StoredMarket } from '../../src/platforms/contract.ts';
import { createPlatformHttp } from '../../src/platforms/http/client.ts';
import { createLimitlessData } from '../../src/platforms/limitless/data.ts';
import { createLimitlessSockets } from '../../src/platforms/limitless/stream/sockets.ts';
import { createPolymarketData } from '../../src/platforms/polymarket/data.ts';
import { createPolymarketSockets } from '../../src/platforms/polymarket/stream/sockets.ts';
import { SocketConnection } from '../../src/platforms/sockets/connection.ts';
import type { PlatformSockets } from '../../src/platforms/sockets/contract.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { SETTINGS, readContext } from '../fixtures/canned-http.ts';
import { flowingClock, passes } from '../helpers/flowing-clock.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { plain } from '../simulators/limitless/rig.ts';
import { startPolymarket } from '../simulators/polymarket.ts';

const clock = flowingClock();
const log = pino({ level: 'silent' });
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A platform with one market to follow: how to lose frames, and how to change its book by hand. */
interface Stage {
  data: PlatformData;
  sockets: PlatformSockets;
  channel: string;
  marketId: string;
  faults: { lose: number };
  change(): void;
}

const settingsOf = (env: Record<string, string>): typeof SETTINGS => ({ ...SETTINGS, ...env });
const http = () => {
  const client = createPlatformHttp({ shared: createLocalShared(log, systemClock), log, clock });
  closers.push(() => client.close());
  return client;
};

async function limitless(): Promise<Stage> {
  const sim = await startLimitless({ seed: 7, markets: 12, clock });
  closers.push(() => sim.close());
  sim.enforceLimits = false;
  const market = plain(sim.world);
  const settings = settingsOf(sim.env);
  return {
    data: createLimitlessData({ http: http(), settings, now: clock.now }),
    sockets: createLimitlessSockets(settings),
    channel: 'books',
    marketId: market.slug,
    faults: sim.stream.faults,
    change: () =>
      void sim.world.tradeOn(market.slug, { outcome: 0, side: 'BUY', limitTick: null, want: { shares: 1_000_000n } }),
  };
}

async function polymarket(): Promise<Stage> {
  const sim = await startPolymarket({ seed: 7, markets: 20, clock });
  closers.push(() => sim.close());
  sim.enforceLimits = false;
  const settings = settingsOf(sim.env);
  const market = sim.world.markets.find((one) => (sim.world.book(one)?.levels('bid').length ?? 0) > 3);
  if (!market) throw new Error('no market with a book');
  return {
    data: createPolymarketData({ http: http(), settings, now: clock.now }),
    sockets: createPolymarketSockets(settings),
    channel: 'market',
    marketId: market.id,
    faults: sim.stream.faults,
    change() {
      // A level far from the best prices: what the platform states of these does not show the loss.
      const book = sim.world.book(market);
      const last = book?.side('bid').at(-1);
      if (!book || !last) throw new Error('no level');
      book.rest({ ...last });
      sim.stream.sync();
    },
  };
}

async function follow({ data, sockets, channel: name, marketId }: Stage) {
  const record = await data.market(marketId, readContext());
  if (!record) throw new Error('no such market');
  const { info, state } = record;
  const market: StoredMarket = { ...info, status: state.status, metadata: info.metadata };
  const { ref } = market;
  const kept = { book: null as BookSide | null, gaps: [] as string[], atGap: [] as string[] };
  const recorder = {
    open: async () => {},
    want: () => {},
    wanted: () => [ref],
    book: () => kept.book,
    polledAt: () => null,
    unseenMs: () => 0,
    compared: () => {},
    polled: (_ref: string, { yes }: { yes: BookSide }) => void (kept.book = copyBook(yes)),
    snapshot: (_ref: string, book: BookSide) => void (kept.book = copyBook(book)),
    change(_ref: string, changes: Parameters<typeof applyChanges>[1]) {
      if (kept.book) applyChanges(kept.book, changes);
      return kept.book !== null;
    },
    gap(of: string, from: string, to: string, reason: string) {
      kept.book = null;
      kept.gaps.push(`${of} ${reason}`);
      kept.atGap = [from, to];
    },
  };
  const live = new LiveBooks(recorder, clock);
  const channel = sockets.channels.find((one) => one.name === name);
  if (!channel) throw new Error('no such channel');
  const observer = { messages: () => {}, badFrame: () => {}, reconnect: () => {}, delay: () => {} };
  const onEvent = (event: { kind: string }, source: SocketConnection): void => {
    if (event.kind.startsWith('book')) live.take(event as BookEvent, source);
  };
  const deps = { platform: data.platform, clock, log, observer, onEvent, onEnd: () => {} };
  const connection = new SocketConnection(deps, channel, [market], () => {});
  closers.push(() => connection.close('test'));
  await passes(clock, () => expect(live.book(ref)).not.toBeNull());
  const poller = new BookPoller({
    lists: {} as BookPollerDeps['lists'],
    recorder: recorder as unknown as BookPollerDeps['recorder'],
    data,
    directory: {
      storedByAnyIds: async () => new Map(),
      storedByRef: async () => new Map([[ref, market]]),
    } as unknown as BookPollerDeps['directory'],
    config: { BOOKS_RECORD: 0, BOOKS_MARKETS: [] },
    // Ten seconds later than the frames: a socket that is silent for that long.
    clock: { ...clock, now: () => clock.now() + 10_000 },
    streamed: { refs: () => [ref] },
    liveBooks: live,
  });
  const run = {
    lease: {},
    signal: new AbortController().signal,
    context: () => readContext(),
  } as unknown as JobRun;
  const truth = async () => (await data.orderBook(market, readContext()))?.yes ?? { bids: [], asks: [] };
  const wrong = async () => bookChanges(kept.book ?? { bids: [], asks: [] }, await truth()).length;
  return { ref, kept, live, connection, poll: () => poller.readStreamed(run), wrong };
}

describe.each([
  ['limitless', limitless],
  ['polymarket', polymarket],
] as const)('frames that are lost on an open socket of %s', (_name, start) => {
  test('cost the stretch until the next poll, which replaces the book at once and names a gap', async () => {
    const stage = await start();
    const { ref, kept, live, connection, poll, wrong } = await follow(stage);
    await poll();
    expect([kept.gaps, await wrong()]).toEqual([[], 0]);

    stage.faults.lose = 1000;
    stage.change();
    await clock.sleep(200);
    expect(await wrong()).toBeGreaterThan(0);
    stage.faults.lose = 0;
    await poll();
    expect(await wrong()).toBe(0);
    expect(kept.gaps).toEqual([`${ref} the polled book differs`]);
    expect(Date.parse(kept.atGap[1] ?? '')).toBeGreaterThan(Date.parse(kept.atGap[0] ?? ''));

    // The same connection goes on with the market.
    expect(connection.isOpen).toBe(true);
    await passes(clock, () => expect(live.book(ref)).not.toBeNull());
    stage.change();
    await passes(clock, async () => expect(await wrong()).toBe(0));
    expect(kept.gaps).toHaveLength(1);
  });
});
