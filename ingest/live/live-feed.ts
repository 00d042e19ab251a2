import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';
import type { StoredMarkets } from '../../src/markets/directory.ts';
import type { StoredMarket } from '../../src/platforms/contract.ts';
import type {
  PlatformSockets,
  SocketChannel,
  SocketEvent,
  SocketObserver,
  SocketStatus,
} from '../../src/platforms/sockets/contract.ts';
import { SocketKeeper } from '../../src/platforms/sockets/keeper.ts';
import { publishSocketStatus, STATUS_MS } from '../../src/platforms/sockets/states.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import type { Shared } from '../../src/stores/shared/shared.ts';
import { type FollowedMarket, QuotePublisher } from './quote-publisher.ts';
import { Shards } from './shards.ts';

const LOOK_MS = 500;
/** How often the markets to follow are chosen: soon again while they change, as after the first listing. */
const CHOOSE_MS = 60_000;
const CHOOSE_SOON_MS = 3000;

const Choice = z.object({ ref: z.string(), price: z.string().nullable(), volume_total: z.string().nullable() });

export interface LiveFeedDeps {
  sockets: PlatformSockets;
  clickhouse: ClickHouse;
  directory: Pick<StoredMarkets, 'storedByRef'>;
  publish: Shared['publish'];
  log: FastifyBaseLogger;
  observer: SocketObserver;
  /** Whether this process stores the platform's trades: no other one opens its sockets. */
  isHolder: () => boolean;
  onTrade: (ref: string) => void;
  /** Called with any id of a market that was listed or has changed. */
  onMarket: (id: string) => void;
  /** Called when trades begin to come, or come again after a break. */
  onReady: () => void;
  /** Multiplies the time limits of sockets; tests shorten them. */
  pace?: number | undefined;
}

interface Channel {
  channel: SocketChannel;
  shards: Shards | null;
  keepers: SocketKeeper[];
  wanted: StoredMarket[][];
}

/** The sockets of one platform in the process that ingests it: opens, shards and closes them, and hands on what they bring. */
export class LiveFeed {
  readonly #deps: LiveFeedDeps;
  readonly #quotes: QuotePublisher;
  readonly #channels: Channel[];
  readonly #timer: NodeJS.Timeout;
  #followed = new Map<string, FollowedMarket>();
  #chooseAt = 0;
  #isChoosing = false;
  #publishedAt = -Infinity;
  #wasOpen = false;

  constructor(deps: LiveFeedDeps) {
    this.#deps = deps;
    this.#quotes = new QuotePublisher(deps.publish);
    this.#channels = deps.sockets.channels.map((channel) => ({
      channel,
      shards: channel.marketsPerSocket === null ? null : new Shards(channel.marketsPerSocket),
      keepers: [],
      wanted: channel.marketsPerSocket === null ? [[]] : [],
    }));
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Whether every new trade starts an event now. */
  get isLive(): boolean {
    const bringing = this.#channels.filter(({ channel }) => channel.bringsTrades);
    return bringing.every(({ keepers }) => keepers.length > 0 && keepers.every((keeper) => keeper.isLive));
  }

  status(): SocketStatus {
    const keepers = this.#channels.flatMap((each) => each.keepers);
    const lastMs = Math.max(0, ...keepers.map((keeper) => keeper.lastMessageMs ?? 0));
    return {
      platform: this.#deps.sockets.platform,
      connected: keepers.length > 0 && keepers.every((keeper) => keeper.isOpen),
      isLive: this.isLive,
      subscriptions: keepers.filter((keeper) => keeper.isOpen).length,
      lastMessageAt: lastMs === 0 ? null : new Date(lastMs).toISOString(),
      reconnects: keepers.reduce((sum, keeper) => sum + keeper.reconnects, 0),
    };
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#quotes.stop();
    await this.#close();
  }

  #look(): void {
    if (!this.#deps.isHolder()) {
      if (this.#wasOpen) void this.#close();
      return;
    }
    this.#wasOpen = true;
    if (performance.now() >= this.#chooseAt && !this.#isChoosing) void this.#choose();
    for (const each of this.#channels) {
      // One after another: platforms refuse many at once.
      const markets = each.wanted[each.keepers.length];
      if (markets) each.keepers.push(this.#keep(each.channel, markets));
    }
    if (performance.now() - this.#publishedAt >= STATUS_MS) this.#publish();
  }

  #keep(channel: SocketChannel, markets: readonly StoredMarket[]): SocketKeeper {
    const { sockets, log, observer, onReady, pace } = this.#deps;
    const onEvent = (event: SocketEvent): void => this.#take(event);
    return new SocketKeeper({ platform: sockets.platform, log, observer, onEvent }, channel, markets, {
      onReady: () => {
        if (channel.bringsTrades) onReady();
        this.#publish();
      },
      ...(pace === undefined ? {} : { pace }),
    });
  }

  #take(event: SocketEvent): void {
    if (event.kind === 'trade') this.#deps.onTrade(event.ref);
    else if (event.kind === 'market') this.#deps.onMarket(event.id);
    else {
      const followed = this.#followed.get(event.quote.ref);
      if (followed) this.#quotes.take(event.quote, followed);
    }
  }

  async #choose(): Promise<void> {
    const { sockets, clickhouse, directory, log } = this.#deps;
    const { platform, markets: limit } = sockets;
    this.#isChoosing = true;
    try {
      const chosen = await clickhouse.query('socket_markets', Choice, { platform, limit });
      const stored = await directory.storedByRef(
        platform,
        chosen.map(({ ref }) => ref),
      );
      const before = this.#followed;
      this.#followed = new Map(
        chosen.flatMap(({ ref, price, volume_total: volumeTotal }) => {
          const market = stored.get(ref);
          return market ? [[ref, { market, price, volumeTotal }] as const] : [];
        }),
      );
      for (const each of this.#channels) this.#assign(each);
      const isSettled = before.size > 0 && [...this.#followed.keys()].every((ref) => before.has(ref));
      this.#chooseAt = performance.now() + (isSettled ? CHOOSE_MS : CHOOSE_SOON_MS);
    } catch (error) {
      this.#chooseAt = performance.now() + CHOOSE_SOON_MS;
      log.warn({ err: error, platform }, 'the markets to follow over sockets could not be read');
    } finally {
      this.#isChoosing = false;
    }
  }

  #assign(each: Channel): void {
    if (!each.shards) return;
    const shards = each.shards.set([...this.#followed.values()].map(({ market }) => market));
    each.wanted = shards.map(({ markets }) => markets);
    for (const [index, { markets, hasChanged }] of shards.entries()) {
      if (hasChanged) each.keepers[index]?.setMarkets(markets);
    }
  }

  #publish(): void {
    this.#publishedAt = performance.now();
    publishSocketStatus(this.#deps.publish, this.status()).catch(() => {});
  }

  async #close(): Promise<void> {
    this.#wasOpen = false;
    const keepers = this.#channels.flatMap((each) => each.keepers.splice(0));
    await Promise.all(keepers.map((keeper) => keeper.stop()));
  }
}
