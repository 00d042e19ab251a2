import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/core/time.ts';
import { Watermarks } from '../../ingest/watermarks.ts';
import { Spool } from '../../ingest/spool/spool.ts';
import { TradeWriter } from '../../ingest/trade-writer.ts';
import type { Projector } from '../../src/present/projector.ts';
import { TradeCopier } from '../../src/present/trades/copier.ts';
import { refreshWindows } from '../../src/stores/clickhouse/windows.ts';
import type { ClickHouse } from '../../src/stores/clickhouse/client.ts';
import { parsePrice, parseSize, parseUsd } from '../../src/core/decimal.ts';
import { MarketWriter } from '../../src/markets/writer.ts';
import { categorySlug } from '../../src/platforms/categories.ts';
import type { Lease, Shared } from '../../src/stores/shared/shared.ts';
import {
  type MarketInfo,
  type MarketRecord,
  type MarketState,
  type Platform,
  PLATFORMS,
  type TradeRecord,
} from '../../src/core/model.ts';
import { createLocalShared } from '../../src/stores/shared/local.ts';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { openOwnClickHouse } from './own-clickhouse.ts';
import { openPresent } from './present.ts';
import { silent } from './silent-log.ts';
import { hurriedClock } from './virtual-clock.ts';
import { tradeWriter } from './trade-writer.ts';

export const LEASE: Lease = {
  name: 'test',
  renew: async () => true,
  remainingMs: () => 60_000,
  release: async () => {},
};

const USER_REQUESTS = 480;
/** Nothing is kept: each request sees the store as it is. */
const cached: Shared['cached'] = async (_key, _ttlMs, load) => ({ value: await load(), hit: false });

/** A store of its own, written by the service's own writers, and the API over it. */
export interface MarketStore {
  readonly clickhouse: ClickHouse;
  /** What CLICKHOUSE_URL of another process must be. */
  readonly url: string;
  readonly app: TestApp;
  readonly present: Projector;
  readonly writers: Record<Platform, TradeWriter>;
  readonly copiers: Record<Platform, TradeCopier>;
  list(...markets: MarketRecord[]): Promise<void>;
  /** Stores trades; what is stored already changes nothing. */
  trade(...trades: TradeRecord[]): Promise<void>;
  /** Says that all trades of [fromMs, toMs] are stored: of a platform, or of one market. */
  cover(platform: Platform, fromMs: number, toMs: number, ref?: string, marker?: string): Promise<void>;
  /** Computes the windows anew. */
  refresh(): Promise<void>;
  /** One request, never answered from the cache; a status other than 200 fails the test. */
  get<T = Record<string, unknown>>(path: string): Promise<T>;
  close(): Promise<void>;
}

export async function startMarketStore(
  options: Pick<TestAppOptions, 'clock' | 'platforms'> = {},
): Promise<MarketStore> {
  const directory = await mkdtemp(join(tmpdir(), 'forecastle-markets-'));
  const { clickhouse, url } = await openOwnClickHouse();
  const spool = await Spool.open(join(directory, 'spool'));
  const { postgres, present, close } = await openPresent(clickhouse);
  const marketWriter = new MarketWriter(clickhouse, hurriedClock, { present });
  const local = createLocalShared(silent, systemClock);
  const app = await startTestApp({
    clickhouse,
    postgres,
    present,
    shared: { ...local, cached, localCache: { ...local.localCache, get: () => undefined } },
    ...options,
  });
  const { log } = app.deps;
  const { clock } = app.deps;
  const copiers = Object.fromEntries(
    PLATFORMS.map((platform) => [platform, new TradeCopier({ clickhouse, postgres, log, clock }, platform)]),
  ) as Record<Platform, TradeCopier>;
  const writers = Object.fromEntries(
    PLATFORMS.map((platform) => [
      platform,
      tradeWriter({ clickhouse, spool, log, platform, copier: copiers[platform], clock: systemClock }),
    ]),
  ) as Record<Platform, TradeWriter>;
  for (const platform of PLATFORMS) {
    await writers[platform].open(LEASE, null);
    await copiers[platform].catchUp(0);
  }
  let user = { key: '', left: 0 };
  return {
    clickhouse,
    url,
    app,
    present,
    writers,
    copiers,
    async list(...records) {
      for (const platform of PLATFORMS) {
        const own = records.filter(({ info }) => info.platform === platform);
        if (own.length > 0) await marketWriter.write(platform, own);
      }
      await present.settled();
    },
    async trade(...trades) {
      for (const platform of PLATFORMS) {
        const own = trades.filter((trade) => trade.platform === platform);
        if (own.length === 0) continue;
        await writers[platform].write(own, LEASE);
        await marketWriter.onTradesStored(platform, new Set(own.map(({ ref }) => ref)));
      }
      await present.settled();
    },
    cover: (platform, fromMs, toMs, ref = '', marker = '') =>
      new Watermarks(clickhouse, platform, clock, copiers[platform]).move(ref, LEASE, () => ({
        fromUs: fromMs * 1000,
        toUs: toMs * 1000,
        marker,
      })),
    refresh: () => refreshWindows(clickhouse),
    async get<T>(path: string) {
      if (user.left === 0) user = { key: (await app.newKey('pro')).key, left: USER_REQUESTS };
      user.left -= 1;
      const reply = await app.app.inject({ url: `/v1/api/${path}`, headers: { 'x-api-key': user.key } });
      if (reply.statusCode !== 200) {
        const lastError = app
          .logged()
          .match(/.*"level":50.*/g)
          ?.at(-1);
        throw new Error(`GET ${path} answered ${reply.statusCode} ${reply.body} ${lastError}`);
      }
      return reply.json() as T;
    },
    async close() {
      await app.close();
      await close();
      await local.close();
      await clickhouse.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

type MarketFields = { ref: string; platform: Platform } & Partial<Omit<MarketInfo, 'ref' | 'platform'>> & {
    state?: Partial<MarketState>;
    fetchedAt?: string;
  };

/** A two-sided open market of which nothing is known but its name; whatever is given is taken instead. */
export function market({ state, fetchedAt, ...info }: MarketFields): MarketRecord {
  const unknown = { price: null, bid: null, ask: null };
  const category = info.category ?? 'Sports';
  return {
    info: {
      platformId: info.ref,
      title: `Market ${info.ref}`,
      marketType: 'binary',
      outcomes: [
        { id: 'yes', name: 'Yes', tokenId: '1' },
        { id: 'no', name: 'No', tokenId: '2' },
      ],
      eventId: '',
      eventName: '',
      seriesId: '',
      slug: info.ref.toLowerCase(),
      description: '',
      categorySlug: categorySlug(category),
      subcategory: null,
      tags: [],
      sourceUrl: `https://example.com/${info.ref}`,
      imageUrl: '',
      createdAt: null,
      tradingStartAt: null,
      tradingEndAt: null,
      resolutionDate: null,
      resolutionCriteria: '',
      resolutionSource: '',
      metadata: {},
      ...info,
      category,
    },
    state: {
      status: 'open',
      resolvedAt: null,
      quotes: [unknown, unknown],
      volume24h: null,
      volume7d: null,
      volume30d: null,
      volume1y: null,
      volumeTotal: null,
      liquidity: 0n,
      openInterest: null,
      priceChange24h: null,
      priceChange7d: null,
      metadata: {},
      ...state,
    },
    raw: {},
    fetchedAt: fetchedAt ?? new Date().toISOString(),
  };
}

const flip = (value: bigint | null | undefined): bigint | null => (value == null ? null : 10n ** 10n - value);

/** The quotes of both outcomes, from the first one's texts. */
export function quotes(price: string, bid: string | null = null, ask: string | null = null): MarketState['quotes'] {
  const [p, b, a] = [price, bid, ask].map((text) => (text === null ? null : parsePrice(text)));
  return [
    { price: p ?? null, bid: b ?? null, ask: a ?? null },
    { price: flip(p), bid: flip(a), ask: flip(b) },
  ];
}

let trades = 0;
type TradeFields = { of: MarketRecord; atMs: number; price: string; size: string } & Partial<
  Pick<
    TradeRecord,
    'tradeId' | 'side' | 'outcome' | 'transactionHash' | 'trader' | 'isBlockTrade' | 'executedAtUs' | 'quoteUsd'
  >
>;

/** A trade of a market, from texts, with an id of its own unless one is given. */
export function trade({ of: { info }, atMs, price, size, ...rest }: TradeFields): TradeRecord {
  trades += 1;
  const outcome = rest.outcome ?? info.outcomes[0]?.id ?? 'yes';
  const hash = createHash('sha256').update(String(trades)).digest('hex').slice(0, 32);
  return {
    platform: info.platform,
    ref: info.ref,
    tradeId: info.platform === 'kalshi' ? hash.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') : hash,
    executedAtUs: Math.round(atMs * 1000),
    side: 'buy',
    outcomeIndex: info.outcomes.findIndex(({ id }) => id === outcome),
    outcomeCount: info.outcomes.length,
    price: parsePrice(price),
    size: parseSize(size),
    transactionHash: '',
    trader: null,
    isBlockTrade: false,
    quoteUsd: null,
    ...rest,
    outcome,
  };
}

export const usd = parseUsd;
