import { expectedCalibration } from './calibration.ts';
import { rescale, sum, toNumber, toUnits } from './exact.ts';
import { kalshiBook, kalshiMarket, kalshiTrades } from './kalshi.ts';
import { limitlessBook, limitlessMarket, limitlessTrades, listedMarkets } from './limitless.ts';
import { largePage, ofEach, type Page, type MarketTruth, type ServedMarket } from './pipeline.ts';
import { polymarketBook, polymarketMarket, polymarketTrades } from './polymarket.ts';
import { categoryOf, differences, slugOf } from './vocabulary.ts';
import type { KalshiWorld } from '../simulators/kalshi.ts';
import type { LimitlessWorld } from '../simulators/limitless/world.ts';
import type { PolymarketWorld } from '../simulators/polymarket.ts';
import type { Simulator } from '../simulators/simulator.ts';

export const PLATFORMS = ['kalshi', 'polymarket', 'limitless'] as const;
const DAY = 86_400_000;

export interface Worlds {
  kalshi: Simulator<KalshiWorld>;
  polymarket: Simulator<PolymarketWorld>;
  limitless: Simulator<LimitlessWorld>;
}

/** What of a service is asked. */
export interface AnalyticsApi {
  get<T>(path: string): Promise<T>;
  /** All markets of a list, over pages of this size. */
  markets(query: string, limit: number): Promise<{ rows: ServedMarket[] }>;
  /** Resolves when analytics speak of this moment. */
  refresh(): Promise<void>;
}

/** A trade as the worlds have it; price and size in units of 10^-10 and 10^-6. */
interface Trade {
  platform: (typeof PLATFORMS)[number];
  market: string;
  id: string;
  atMs: number;
  first: boolean;
  price: bigint;
  size: bigint;
  notional: bigint;
  isBlock: boolean;
}

interface Served {
  trade_id: string;
  market_id: string;
  outcome: string;
  price: number;
  size: number;
  metadata: Record<string, unknown>;
}

/** Numbers of the oracles are decimals of at most 15 digits: their text is exact. */
const units = (value: number, scale: number): bigint => toUnits(value.toFixed(scale), scale);

function trade(platform: Trade['platform'], row: Served, outcomes: string[]): Trade {
  const [price, size] = [units(row.price, 10), units(row.size, 6)];
  return {
    platform,
    market: row.market_id,
    id: row.trade_id,
    atMs: Date.parse(String(row.metadata['executed_at'])),
    first: row.outcome === outcomes[0],
    price,
    size,
    notional: rescale(price * size, 16, 6),
    isBlock: row.metadata['is_block_trade'] === true,
  };
}

function groupBy<T, K>(rows: readonly T[], keyOf: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

const worth = (row: Trade): bigint => (row.platform === 'kalshi' ? row.size : row.notional);

interface Whale extends Served {
  platform: string;
  notional_value: number;
  timestamp: number;
}

const sold = (rows: Trade[], market: ServedMarket, asOf: number, from: number, to = 0): bigint =>
  sum(
    rows
      .filter(
        (row) =>
          row.platform === market.platform &&
          row.market === market.platform_id &&
          row.atMs > asOf - from * DAY &&
          row.atMs <= asOf - to * DAY,
      )
      .map(worth),
  );

/** 100 × (now − before) / before, to six places. */
const percent = (now: bigint, before: bigint): number | null =>
  before === 0n ? null : toNumber(rescale(((now - before) * 10n ** 20n) / before, 18, 6), 6);

interface Trending {
  trending: {
    market_id: string;
    platform: string;
    change: { volume_24h: number | null; volume_change_percent: number | null };
  }[];
  meta: { as_of: string; total_markets_analyzed: number };
}

interface Category {
  slug: string;
  name: string;
  active_markets: number;
  total_markets: number;
  volume_24h: number | null;
  total_volume: number | null;
  total_liquidity: number;
  avg_spread: number | null;
  platforms: string[];
}

/** No feed brings a pool's trades: only its platform's totals are known. */
const isPool = ({ metadata }: ServedMarket): boolean => metadata['trade_type'] === 'amm';

interface PriceAt {
  market_id: string;
  prices: Record<string, number | null>;
  at: string | null;
  source: string | null;
}
/** What a market is now and where a price of it comes from: each must be seen. */
const SITUATIONS = ['open null', 'open quote', 'open trade', 'settled trade', 'settled payout'];
let calls = 0;
const ids = (some: readonly { platform_id: string }[]): string => some.map(({ platform_id: id }) => id).join();

/** What is wrong with the price of a two-sided market at an instant: its payout, else its last trade, else a quote from before. */
function wrongPrice(
  market: MarketTruth,
  trades: readonly Trade[],
  [atMs, isNow]: readonly [number, boolean],
  served: PriceAt | undefined,
): string[] {
  const [first = '', second = ''] = market.outcomes.map(({ id }) => id);
  const say = (expected: unknown) => [
    `${market.platform_id} at ${atMs}: ${JSON.stringify(served)} instead of ${JSON.stringify(expected)}`,
  ];
  if (served?.market_id !== market.platform_id) return say(market.platform_id);
  const payouts = market.metadata['payouts'] as Record<string, number> | undefined;
  if (market.status === 'settled' && payouts?.[first] !== undefined && Date.parse(market.resolved_at ?? '') <= atMs) {
    const right = isSame([served.source, served.at], ['payout', market.resolved_at]) && isSame(served.prices, payouts);
    return right ? [] : say(payouts);
  }
  const before = trades.filter((row) => row.atMs < atMs);
  const lastMs = Math.max(...before.map((row) => row.atMs));
  if (before.length === 0) {
    // By now it is what the market itself shows; of an older quote only its time and its sum are known.
    const now = market.status === 'settled' || !isNow ? null : quoteOf(market);
    const { [first]: one, [second]: other } = served.prices;
    const isQuote = served.source === 'quote' && Date.parse(served.at ?? '') <= atMs && isWhole(one, other);
    if (now !== null) return isQuote && one === now ? [] : say(now);
    return isQuote || isSame([served.source, served.at, one, other], [null, null, null, null]) ? [] : say(null);
  }
  // Of trades in one millisecond any may be the last.
  const last = before
    .filter((row) => row.atMs === lastMs)
    .map((row) => (row.first ? row.price : 10n ** 10n - row.price));
  const right = last.some((price) =>
    isSame(
      [served.source, served.at, served.prices[first], served.prices[second]],
      ['trade', new Date(lastMs).toISOString(), toNumber(price, 10), toNumber(10n ** 10n - price, 10)],
    ),
  );
  return right ? [] : say([lastMs, toNumber(last[0] ?? 0n, 10)]);
}

/** The price of the first outcome that a market shows. */
const quoteOf = (market: Pick<ServedMarket, 'current_prices' | 'outcomes'>): number | null =>
  market.current_prices[market.outcomes[0]?.id ?? '']?.price ?? null;

/** Whether the prices of both outcomes add up to one. */
const isWhole = (one: number | null | undefined, other: number | null | undefined): boolean =>
  one != null && other != null && units(one, 10) + units(other, 10) === 10n ** 10n;

/** Of what was served, the fields that are compared. */
const named = (served: object | undefined, names: object): object =>
  Object.fromEntries(Object.entries(served ?? {}).filter(([name]) => name in names));

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

interface Item {
  timestamp: number;
  price: { open: number | null; close: number | null; high: number | null; low: number | null };
  volume: number | null;
  trade_count: number | null;
  notional_value: number | null;
}

const priceOf = (value: bigint | undefined): number | null => (value === undefined ? null : toNumber(value, 10));

interface Snapshot {
  metrics: {
    volume: Record<string, number | null>;
    open_interest: number | null;
    notional_value: number | null;
    unique_traders: number | null;
  };
}

/** Analytics and metrics of a service against what its three worlds come to; each check reports what is wrong. */
export function analyticsChecks(worlds: Worlds, api: AnalyticsApi) {
  /** Markets of Limitless that the service knows or should: once they have ended no list shows them. */
  const ofLimitless = new Set<string>();

  /** Every trade of the three worlds that can be known. */
  async function truth(): Promise<Trade[]> {
    const { world: k } = worlds.kalshi;
    const { world: p } = worlds.polymarket;
    const { world: l } = worlds.limitless;
    const { rows } = await api.markets('provider=limitless', largePage());
    for (const { platform_id: slug } of rows) ofLimitless.add(slug);
    for (const { slug } of listedMarkets(l)) ofLimitless.add(slug);
    return [
      ...k.markets.flatMap(({ ticker }) => kalshiTrades(k, ticker).map((row) => trade('kalshi', row, ['yes']))),
      ...p.markets.flatMap((market) =>
        polymarketTrades(p, market).map((row) => trade('polymarket', row, [slugOf(market.outcomes[0] ?? '')])),
      ),
      ...[...l.markets.values()].flatMap((market) =>
        market.kind === 'clob' && ofLimitless.has(market.slug)
          ? limitlessTrades(l, market).map((row) => trade('limitless', row, ['yes']))
          : [],
      ),
    ];
  }

  /** Whales of any size against the trades of the worlds. */
  async function wrongWhales(): Promise<string[]> {
    const rows: Whale[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { trades: Whale[]; pagination: Page } = await api.get(
        `trades/whales?min_size=0&limit=200&cursor=${cursor}`,
      );
      rows.push(...page.trades);
      cursor = page.pagination.next_cursor;
    }
    const served = rows.map((row) =>
      JSON.stringify([
        row.platform,
        row.market_id,
        row.trade_id,
        row.timestamp,
        row.price,
        row.size,
        row.notional_value,
      ]),
    );
    const expected = (await truth()).map((row) =>
      JSON.stringify([
        row.platform,
        row.market,
        row.id,
        Math.floor(row.atMs / 1000),
        toNumber(row.price, 10),
        toNumber(row.size, 6),
        toNumber(row.notional, 6),
      ]),
    );
    const [left, right] = [new Set(served), new Set(expected)];
    const times = rows.map((row) => Date.parse(String(row.metadata['executed_at'])));
    return [
      ...expected.filter((row) => !left.has(row)).map((row) => `missing ${row}`),
      ...served.filter((row, at) => !right.has(row) || served.indexOf(row) !== at).map((row) => `stray ${row}`),
      ...times.flatMap((at, i) => (i > 0 && at > times[i - 1]! ? [`row ${i} is newer than the one before`] : [])),
    ];
  }

  async function markets(query = ''): Promise<ServedMarket[]> {
    const lists = await Promise.all(
      PLATFORMS.map((platform) => api.markets(`provider=${platform}${query}`, largePage())),
    );
    return lists.flatMap(({ rows }) => rows);
  }

  /** Changes of volume over both windows against the worlds' trades. */
  async function wrongTrends(): Promise<string[]> {
    const wrong: string[] = [];
    const rows = await truth();
    for (const [window, days] of [
      ['24h', 1],
      ['7d', 7],
    ] as const) {
      await api.refresh();
      for (const platform of PLATFORMS) {
        const open = (await markets('&status=open')).filter((market) => market.platform === platform);
        const limit = Math.min(100, open.length + (largePage() % 7) + 1);
        const { trending, meta }: Trending = await api.get(
          `analytics/trending?platform=${platform}&window=${window}&limit=${limit}`,
        );
        const asOf = Date.parse(meta.as_of);
        if (meta.total_markets_analyzed !== open.length)
          wrong.push(`${platform}: ${meta.total_markets_analyzed} analyzed`);
        for (const { market_id: id, change } of trending) {
          const market = open.find((one) => one.platform_id === id);
          if (!market) {
            wrong.push(`${id} is not open`);
            continue;
          }
          const [now, before] = [sold(rows, market, asOf, days), sold(rows, market, asOf, 2 * days, days)];
          const expected = isPool(market)
            ? [null, market.volume_24h]
            : [percent(now, before), toNumber(sold(rows, market, asOf, 1), 6)];
          const answered = [change.volume_change_percent, change.volume_24h];
          if (JSON.stringify(answered) !== JSON.stringify(expected)) {
            wrong.push(
              `${platform} ${id} ${window}: ${JSON.stringify(answered)} instead of ${JSON.stringify(expected)}`,
            );
          }
        }
      }
    }
    return wrong;
  }

  /** Categories against the listings; volumes of markets whose trading has ended against the trades. */
  async function wrongCategories(): Promise<string[]> {
    await api.refresh();
    const listed = await markets();
    const platform = PLATFORMS[largePage() % 3]!;
    for (const query of ['', `?platform=${platform}`]) {
      const rows = await truth();
      const { categories, meta }: { categories: Category[]; meta: { as_of: string } } = await api.get(
        `analytics/categories${query}`,
      );
      const asOf = Date.parse(meta.as_of);
      const ours = listed.filter((market) => query === '' || market.platform === platform);
      const groups = groupBy(ours, (market) => slugOf(market.category) || 'other');
      const expected = [...groups].map(([slug, all]): Category => {
        const open = all.filter((market) => market.status === 'open');
        const spreads = open.flatMap((market) => {
          const { bid, ask } = Object.values(market.current_prices)[0] ?? { bid: null, ask: null };
          return bid === null || ask === null ? [] : [units(ask, 10) - units(bid, 10)];
        });
        const total = (pick: (market: ServedMarket) => bigint | null): number | null => {
          const known = all.flatMap((market) => pick(market) ?? []);
          return known.length === 0 ? null : toNumber(sum(known), 6);
        };
        return {
          slug,
          name:
            categoryOf([slug])?.name ??
            (all
              .map((market) => market.category)
              .toSorted()
              .at(-1) ||
              'Other'),
          active_markets: open.length,
          total_markets: all.length,
          volume_24h: total((market) => {
            // Past its end alone it may be open yet, and its platform's figure counts.
            const isOver = market.status === 'closed' || market.status === 'settled';
            const ended = isOver && market.trading_end_at !== null && Date.parse(market.trading_end_at) <= asOf;
            if (ended) return sold(rows, market, asOf, 1);
            return market.volume_24h === null ? null : units(market.volume_24h, 6);
          }),
          total_volume: total((market) => (market.volume_total === null ? null : units(market.volume_total, 6))),
          total_liquidity: toNumber(sum(open.map((market) => units(market.liquidity ?? 0, 6))), 6),
          avg_spread:
            spreads.length === 0
              ? null
              : toNumber(rescale((sum(spreads) * 10n ** 6n) / BigInt(spreads.length), 16, 6), 6),
          platforms: PLATFORMS.filter((one) => all.some((market) => market.platform === one)),
        };
      });
      const wrong = expected.flatMap((group) => {
        const answered = categories.find(({ slug }) => slug === group.slug);
        const same =
          answered && Object.entries(group).every(([name, value]) => isSame(answered[name as keyof Category], value));
        return same ? [] : [`${query} ${JSON.stringify(answered)} instead of ${JSON.stringify(group)}`];
      });
      if (categories.length !== expected.length) wrong.push(`${categories.length} categories`);
      if (wrong.length > 0) return wrong;
    }
    return [];
  }

  /** Whole lives of markets in buckets, against their trades. Kalshi's prices are its own bars, tested beside them. */
  async function wrongHistories(interval: string, step: number): Promise<string[]> {
    const rows = groupBy(await truth(), (row) => `${row.platform} ${row.market}`);
    const wrong: string[] = [];
    for (const [key, own] of [...rows].filter((_, i) => i % 3 === largePage() % 3)) {
      const [platform = '', id = ''] = key.split(' ');
      if (platform === 'polymarket' && own.some((row) => row.price >= 10n ** 10n)) continue;
      const start = Math.floor((Math.min(...own.map((row) => row.atMs)) - DAY) / 1000);
      const { data, meta }: { data: Item[]; meta: { data_freshness: string } } = await api.get(
        `metrics/historical?platform=${platform}&market_id=${id}&interval=${interval}&start_ts=${start}&limit=${5000 - (largePage() % 90)}`,
      );
      // A bucket that began after the feed was last read may have a bar of the platform already, and no number of trades.
      const isUnread = (item: Item): boolean => item.timestamp * 1000 > Date.parse(meta.data_freshness);
      const traded = data.filter((item) => item.trade_count !== 0 && !(item.trade_count === null && isUnread(item)));
      const buckets = groupBy(own, (row) => Math.floor(row.atMs / 1000 / step) * step);
      const expected = [...buckets]
        .toSorted(([a], [b]) => a - b)
        .map(([timestamp, inside]) => {
          const prices = inside
            .filter((row) => !row.isBlock)
            .toSorted((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1))
            .map((row) => (row.first ? row.price : 10n ** 10n - row.price));
          const ranked = prices.toSorted((a, b) => (a < b ? -1 : 1));
          const [open, close] = [prices[0], prices.at(-1)].map(priceOf);
          const [low, high] = [ranked[0], ranked.at(-1)].map(priceOf);
          return [
            timestamp,
            platform === 'kalshi' ? null : { open, high, low, close },
            toNumber(sum(inside.map((row) => row.size)), 6),
            inside.length,
            toNumber(sum(inside.map((row) => row.notional)), 6),
          ];
        });
      const answered = traded.map((item) => [
        item.timestamp,
        platform === 'kalshi'
          ? null
          : { open: item.price.open, high: item.price.high, low: item.price.low, close: item.price.close },
        item.volume,
        item.trade_count,
        item.notional_value,
      ]);
      if (!isSame(answered, expected)) {
        const at = expected.findIndex((item, i) => !isSame(item, answered[i]));
        wrong.push(`${key}: ${JSON.stringify(answered[at])} instead of ${JSON.stringify(expected[at])}`);
      }
    }
    return wrong;
  }

  /** Asks for a market's history from the day on which it began. */
  async function askForLife({ platform, platform_id: id, created_at: createdAt }: ServedMarket): Promise<void> {
    const start = createdAt === null ? 0 : Math.floor((Date.parse(createdAt) - DAY) / 1000);
    await api.get(`metrics/historical?platform=${platform}&market_id=${id}&interval=1d&start_ts=${start}`);
  }

  /** Snapshots against the listing, and the notional of whole lives against the trades. */
  async function wrongSnapshots(): Promise<string[]> {
    const rows = await truth();
    const listed = (await markets()).filter((_, i) => i % 5 === largePage() % 5);
    return ofEach(listed, async (market) => {
      const { metrics }: Snapshot = await api.get(
        `metrics/snapshot?platform=${market.platform}&market_id=${market.platform_id}`,
      );
      const own = rows.filter((row) => row.platform === market.platform && row.market === market.platform_id);
      // Older than the feed was read: who asks for its whole life has it fetched.
      if (metrics.notional_value === null) await askForLife(market);
      const [volume, answered] = [market, metrics.volume];
      const known = [
        [answered['total'], volume.volume_total],
        [answered['volume_24h'], volume.volume_24h ?? answered['volume_24h']],
        [answered['volume_7d'], volume.volume_7d ?? answered['volume_7d']],
        // A snapshot reads it at once where the listing knows none.
        [metrics.open_interest, market.open_interest ?? metrics.open_interest],
        [metrics.unique_traders, market.unique_traders],
        [metrics.notional_value, isPool(market) ? null : toNumber(sum(own.map((row) => row.notional)), 6)],
      ];
      return known.some(([a, b]) => !isSame(a, b)) ? [`${market.id}: ${JSON.stringify(known)}`] : [];
    });
  }

  /** Every market that the service lists, as its world has it now. */
  async function worldMarkets(platform: (typeof PLATFORMS)[number]) {
    const { world: k } = worlds.kalshi;
    const { world: p } = worlds.polymarket;
    const { world: l } = worlds.limitless;
    const read = { syncedMs: Date.now(), worldMs: l.clock.now() };
    const { rows } = await api.markets(`provider=${platform}`, largePage());
    const ids = new Set(rows.map(({ platform_id: id }) => id));
    const all = {
      kalshi: () =>
        [...ids].flatMap((id) => k.exchange.marketByTicker.get(id) ?? []).map((one) => kalshiMarket(k, one, read)),
      polymarket: () => p.markets.filter(({ id }) => ids.has(id)).map((one) => polymarketMarket(p, one, read, null)),
      limitless: () =>
        [...l.markets.values()].filter(({ slug }) => ids.has(slug)).map((one) => limitlessMarket(l, one, read)),
    };
    return all[platform]();
  }

  /** Every bin and every market left out, from the payouts and trades of the worlds. */
  async function wrongCalibration(): Promise<string[]> {
    const rows = (await truth())
      .filter(({ isBlock }) => !isBlock)
      .toSorted((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1));
    const own = groupBy(rows, (row) => `${row.platform}:${row.market}`);
    const wrong: string[] = [];
    let counted = 0;
    for (const platform of PLATFORMS) {
      const settled = (await worldMarkets(platform)).filter(({ status }) => status === 'settled');
      const horizon = (['1h', '1d'] as const)[largePage() % 2] ?? '1h';
      for (const category of ['', ...new Set(settled.map((market) => slugOf(market.category)).filter(Boolean))].slice(
        0,
        3,
      )) {
        // Another number of bins than in the calls before: their answers are kept.
        const bins = 2 + (largePage() % 90);
        const { calibration, meta }: { calibration: object[]; meta: object } = await api.get(
          `analytics/calibration?platform=${platform}&horizon=${horizon}&bins=${bins}${category === '' ? '' : `&category=${category}`}`,
        );
        const { calibration: expected, ...figures } = expectedCalibration(
          settled.filter((market) => category === '' || slugOf(market.category) === category),
          ({ id }) =>
            (own.get(id) ?? []).map((row) => ({
              atMs: row.atMs,
              price: row.first ? row.price : 10n ** 10n - row.price,
            })),
          { horizon, bins },
        );
        const say = `${platform} ${category} ${horizon} ${bins}`;
        const found = [
          ...differences(say, named(meta, figures), figures),
          ...expected.flatMap((bin, at) => differences(`${say} bin ${at}`, named(calibration[at], bin), bin)),
        ];
        wrong.push(...found.map((one) => JSON.stringify(one)));
        counted += figures.markets;
      }
    }
    return counted === 0 ? [...wrong, 'no market is counted'] : wrong;
  }

  /** Books and prices in batches of listed markets, at instants before, between and after their trades. */
  async function wrongBatches(): Promise<string[]> {
    const { world: k } = worlds.kalshi;
    const { world: p } = worlds.polymarket;
    const { world: l } = worlds.limitless;
    const rows = (await truth()).filter(({ isBlock }) => !isBlock);
    const wrong: string[] = [];
    const situations = new Set<string>();
    for (const platform of PLATFORMS) {
      const markets = await worldMarkets(platform);
      const own = groupBy(
        rows.filter((row) => row.platform === platform),
        (row) => row.market,
      );
      const bookOf = {
        kalshi: (id: string) => kalshiBook(k, id),
        polymarket: (id: string) =>
          polymarketBook(
            p,
            p.markets.find((one) => one.id === id)!,
          ),
        limitless: (id: string) => limitlessBook(l.markets.get(id)!, l.clock.now()),
      }[platform];
      const asked = markets.slice(0, 50);
      const { data: books }: { data: { market_id: string }[] } = await api.get(
        `orderbooks?provider=${platform}&market_ids=${ids(asked)}`,
      );
      if (books.length !== asked.length) wrong.push(`${platform}: ${books.length} books of ${asked.length}`);
      for (const book of books) {
        const expected = bookOf(book.market_id);
        wrong.push(...differences(book.market_id, named(book, expected), expected).map((one) => JSON.stringify(one)));
      }
      const times = [...own.values()]
        .flat()
        .map(({ atMs }) => atMs)
        .toSorted((a, b) => a - b);
      const taken = new Set(times);
      // The cache keeps answers for a while: another instant than before, at which nothing was traded.
      const free = (ms: number): number => (taken.has(ms) ? free(ms + 1) : ms);
      const instants = [0.05, 0.5, 0.95].map((share) =>
        free((times[Math.floor(times.length * share)] ?? 0) + (calls += 1)),
      );
      // Before the first trade, between trades, around each payout, and now.
      const settled = markets.filter(
        (market) => market.status === 'settled' && market.metadata['payouts'] !== undefined,
      );
      const payouts = settled.flatMap(({ resolved_at: at }) => (at === null ? [] : [Date.parse(at)])).slice(0, 3);
      const around = payouts.flatMap((ms) => [ms - 1, ms]);
      const present = Date.now();
      for (const at of [(times[0] ?? 0) - (calls += 1), ...instants, ...around, present]) {
        for (let from = 0; from < markets.length; from += 100) {
          const some = markets.slice(from, from + 100);
          const { data }: { data: PriceAt[] } = await api.get(
            `markets/prices?provider=${platform}&market_ids=${ids(some)}&at=${at}`,
          );
          for (const [n, { status }] of some.entries()) situations.add(`${status} ${data[n]?.source}`);
          wrong.push(
            ...some.flatMap((market, n) =>
              wrongPrice(market, own.get(market.platform_id) ?? [], [at, at === present], data[n]),
            ),
          );
        }
      }
    }
    const missing = SITUATIONS.filter((one) => !situations.has(one));
    return [...wrong, ...missing.map((one) => `no price of this kind: ${one}`)];
  }

  return {
    truth,
    wrongBatches,
    wrongCalibration,
    wrongWhales,
    wrongTrends,
    wrongCategories,
    wrongHistories,
    wrongSnapshots,
  };
}
export type AnalyticsChecks = ReturnType<typeof analyticsChecks>;

/** Every check by its name. */
export const ANALYTICS: readonly [string, (checks: AnalyticsChecks) => Promise<string[]>][] = [
  ['whales', (checks) => checks.wrongWhales()],
  ['trends', (checks) => checks.wrongTrends()],
  ['categories', (checks) => checks.wrongCategories()],
  ['histories of 15 minutes', (checks) => checks.wrongHistories('15m', 900)],
  ['histories of 4 hours', (checks) => checks.wrongHistories('4h', 14_400)],
  ['snapshots', (checks) => checks.wrongSnapshots()],
];

/** Those, and what is compared with worlds that stand still. */
export const AT_REST: typeof ANALYTICS = [
  ...ANALYTICS,
  ['calibration', (checks) => checks.wrongCalibration()],
  ['books and prices in batches', (checks) => checks.wrongBatches()],
];
