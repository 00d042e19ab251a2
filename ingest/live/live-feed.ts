import type { FastifyBaseLogger } from 'fastify';
import type { BookRecorder } from '../../src/books/recorder.ts';
import type { Clock, Stop } from '../../src/core/time.ts';
import type { StoredMarkets } from '../../src/markets/directory.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type {
  PlatformSockets,
  SocketChannel,
  SocketEvent,
  SocketObserver,
  SocketStatus,
} from '../../src/platforms/sockets/contract.ts';
import type { SocketConnection } from '../../src/platforms/sockets/connection.ts';
import { SocketKeeper } from '../../src/platforms/sockets/keeper.ts';
import { publishSocketStatus, STATUS_MS } from '../../src/platforms/sockets/states.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { refsOf } from '../../src/stores/clickhouse/refs.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import type { LiveTrades } from './live-trades.ts';
import type { MarketRefresh } from './market-refresh.ts';
import type { LiveBooks } from './live-books.ts';
import type { QuotedMarkets } from './quoted-markets.ts';
import { Shards } from './shards.ts';

const LOOK_MS = 500;
/** Interval for selecting the markets to follow. It is short while they change, as after the first listing, or if other books are wanted. */
const CHOOSE_MS = 60_000;
const CHOOSE_SOON_MS = 3000;
/** Upper limit, whatever the settings allow. */
const MOST_BOOKS = 5000;
/** Interval at which unchanged books are confirmed as current. */
const REFRESH_MS = 5000;

export interface LiveFeedDeps {
  sockets: PlatformSockets;
  clock: Clock;
  clickhouse: ClickHouse;
  directory: Pick<StoredMarkets, 'storedByRef'>;
  shared: Pick<Shared, 'publish'>;
  /** Lists the markets whose books are wanted. */
  recorder: Pick<BookRecorder, 'wanted'>;
  liveBooks: LiveBooks;
  /** Takes the quotes of every platform. */
  quoted: Pick<QuotedMarkets, 'take' | 'stored'>;
  log: FastifyBaseLogger;
  observer: SocketObserver;
  /** Whether this process stores the platform's trades: only that process opens its sockets. */
  isHolder: () => boolean;
  trades: Pick<LiveTrades, 'reported' | 'begin'>;
  announced: Pick<MarketRefresh, 'add'>;
  /** Multiplies the time limits of sockets; tests shorten them. */
  pace?: number | undefined;
}

interface Channel {
  channel: SocketChannel;
  shards: Shards | null;
  keepers: SocketKeeper[];
  wanted: StoredMarket[][];
}

/** The sockets of one platform, in the process that ingests it: opens, shards and closes them, and passes on their events. */
export class LiveFeed {
  readonly #deps: LiveFeedDeps;
  readonly #books: LiveBooks;
  readonly #channels: Channel[];
  readonly #stopLooking: Stop;
  #followed = new Map<string, StoredMarket>();
  #chooseAt = 0;
  #chosenAt = -Infinity;
  /** The books that were wanted at the last selection. */
  #chosenFor = '';
  #isChoosing = false;
  #publishedAt = -Infinity;
  #refreshAt = 0;
  #wasOpen = false;

  constructor(deps: LiveFeedDeps) {
    this.#deps = deps;
    this.#books = deps.liveBooks;
    this.#channels = deps.sockets.channels.map((channel) => ({
      channel,
      shards: channel.marketsPerSocket === null ? null : new Shards(channel.marketsPerSocket),
      keepers: [],
      wanted: channel.marketsPerSocket === null ? [[]] : [],
    }));
    this.#stopLooking = deps.clock.every(LOOK_MS, () => this.#look());
  }

  /** Whether every new trade is currently reported by a socket event. */
  get isLive(): boolean {
    const bringing = this.#channels.filter(({ channel }) => channel.bringsTrades);
    return (
      bringing.length > 0 &&
      bringing.every(({ keepers }) => keepers.length > 0 && keepers.every((keeper) => keeper.isLive))
    );
  }

  status(): SocketStatus {
    const keepers = this.#channels.flatMap((each) => each.keepers);
    const lastMs = Math.max(0, ...keepers.map((keeper) => keeper.lastMessageMs ?? 0));
    const { platform, off } = this.#deps.sockets;
    return {
      platform,
      connected: keepers.length > 0 && keepers.every((keeper) => keeper.isOpen),
      reason: off ?? this.#lostBecause(),
      isLive: this.isLive,
      subscriptions: this.#channels.reduce((sum, each) => sum + subscribed(each), 0),
      lastMessageAt: lastMs === 0 ? null : new Date(lastMs).toISOString(),
      reconnects: keepers.reduce((sum, keeper) => sum + keeper.reconnects, 0),
    };
  }

  /** Why a connection is not open, after the name of its channel where there are several. */
  #lostBecause(): string | null {
    for (const { channel, keepers } of this.#channels) {
      const lost = keepers.find((keeper) => keeper.lostBecause !== null)?.lostBecause ?? null;
      if (lost !== null) return this.#channels.length > 1 ? `${channel.name}: ${lost}` : lost;
    }
    return null;
  }

  /** Call it with markets stored with another price or volume: quotes have the stored values that the socket does not send. */
  stored(refs: Iterable<string>): void {
    if (this.#wasOpen) this.#deps.quoted.stored(this.#deps.sockets.platform, refs);
  }

  /** Replaces the connections that report trades of the whole platform. */
  replaceTrades(reason: string): void {
    for (const { channel, keepers } of this.#channels) {
      if (channel.bringsTrades && channel.marketsPerSocket === null)
        for (const keeper of keepers) keeper.replace(reason);
    }
  }

  async stop(): Promise<void> {
    this.#stopLooking();
    await this.#close();
  }

  #look(): void {
    if (!this.#deps.isHolder()) {
      if (this.#wasOpen) void this.#close();
      return;
    }
    this.#wasOpen = true;
    if (this.#channels.length > 0 && !this.#isChoosing && this.#isChoiceDue()) void this.#choose();
    for (const each of this.#channels) {
      // One connection per check: platforms refuse many at once.
      const markets = each.wanted[each.keepers.length];
      if (markets) each.keepers.push(this.#keep(each.channel, markets));
    }
    if (this.#deps.clock.elapsed() >= this.#refreshAt) {
      this.#refreshAt = this.#deps.clock.elapsed() + REFRESH_MS;
      this.#books.refresh();
    }
    if (this.#deps.clock.elapsed() - this.#publishedAt >= STATUS_MS) this.#publish();
  }

  #keep(channel: SocketChannel, markets: readonly StoredMarket[]): SocketKeeper {
    const { sockets, clock, log, observer, trades, pace } = this.#deps;
    const taking = {
      onEvent: this.#take,
      onEnd: (connection: SocketConnection): void => this.#books.ended(connection),
    };
    return new SocketKeeper({ platform: sockets.platform, clock, log, observer, ...taking }, channel, markets, {
      onReady: () => {
        if (channel.bringsTrades) trades.begin();
        this.#publish();
      },
      ...(pace === undefined ? {} : { pace }),
    });
  }

  /** Gives an event to the one place that acts on it. Books of markets that are no longer followed are ignored. */
  readonly #take = (event: SocketEvent, connection: SocketConnection): void => {
    switch (event.kind) {
      case 'trade':
        return this.#deps.trades.reported(event.ref);
      case 'market': {
        const { kind: _kind, id, ...stated } = event;
        return this.#deps.announced.add(id, stated);
      }
      case 'quote':
        return this.#deps.quoted.take(this.#deps.sockets.platform, event.quote, connection.frameMs);
      case 'book':
      case 'book_change':
      case 'book_lost':
        if (this.#followed.has(event.ref)) this.#books.take(event, connection);
        return;
      case 'order':
    }
  };

  #wantedBooks(): readonly string[] {
    return this.#deps.recorder.wanted().slice(0, MOST_BOOKS);
  }

  #isChoiceDue(): boolean {
    const now = this.#deps.clock.elapsed();
    if (now >= this.#chooseAt) return true;
    return now >= this.#chosenAt + CHOOSE_SOON_MS && this.#wantedBooks().toSorted().join() !== this.#chosenFor;
  }

  async #choose(): Promise<void> {
    const { sockets, clickhouse, directory, log } = this.#deps;
    const { platform, markets: most } = sockets;
    this.#isChoosing = true;
    this.#chosenAt = this.#deps.clock.elapsed();
    try {
      const refs = this.#wantedBooks();
      this.#chosenFor = refs.toSorted().join();
      const chosen = await refsOf(clickhouse, 'socket_markets', { platform, refs, limit: most + refs.length });
      const stored = await directory.storedByRef(platform, chosen);
      const before = this.#followed;
      this.#followed = new Map(
        chosen.flatMap((ref) => {
          const market = stored.get(ref);
          return market ? [[ref, market] as const] : [];
        }),
      );
      for (const each of this.#channels) this.#assign(each);
      this.#books.keepOnly(this.#subscribedBooks());
      const isSettled = before.size > 0 && [...this.#followed.keys()].every((ref) => before.has(ref));
      this.#chooseAt = this.#deps.clock.elapsed() + (isSettled ? CHOOSE_MS : CHOOSE_SOON_MS);
    } catch (error) {
      this.#chooseAt = this.#deps.clock.elapsed() + CHOOSE_SOON_MS;
      log.warn({ err: error, platform }, 'Failed to read the markets to follow over sockets');
    } finally {
      this.#isChoosing = false;
    }
  }

  #assign(each: Channel): void {
    if (!each.shards) return;
    const wanted = new Set(each.channel.isForBooks ? this.#wantedBooks() : this.#followed.keys());
    const markets = [...this.#followed.values()].filter(({ ref }) => wanted.has(ref));
    const shards = each.shards.set(markets);
    each.wanted = shards.map(({ markets }) => markets);
    for (const [index, { markets, hasChanged }] of shards.entries()) {
      if (hasChanged) each.keepers[index]?.setMarkets(markets);
    }
    for (const keeper of each.keepers.splice(shards.length)) void keeper.stop();
  }

  /** Markets whose books are subscribed: on the channels for books, or else on all that list markets. */
  #subscribedBooks(): ReadonlySet<string> {
    const forBooks = this.#channels.filter(({ channel }) => channel.isForBooks);
    const bringing = forBooks.length > 0 ? forBooks : this.#channels;
    return new Set(bringing.flatMap(({ wanted }) => wanted.flat().map(({ ref }) => ref)));
  }

  #publish(): void {
    this.#publishedAt = this.#deps.clock.elapsed();
    publishSocketStatus(this.#deps.shared, this.status()).catch(() => {});
  }

  async #close(): Promise<void> {
    this.#wasOpen = false;
    const keepers = this.#channels.flatMap((each) => each.keepers.splice(0));
    await Promise.all(keepers.map((keeper) => keeper.stop()));
  }
}

/** Markets subscribed on a channel's open connections; a connection for the whole platform counts as 1. */
const subscribed = ({ shards, keepers, wanted }: Channel): number =>
  keepers.reduce((sum, keeper, n) => sum + (keeper.isOpen ? (shards ? (wanted[n]?.length ?? 0) : 1) : 0), 0);
