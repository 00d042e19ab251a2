import { toNumber, toUnits } from '../oracle/exact.ts';

/** Asks the API; anything but 200 fails. */
export type Answers = <T>(path: string) => Promise<T>;
type Maybe = number | null | undefined;

interface Market {
  id: string;
  platform: string;
  status: string;
  created_at: string | null;
  resolved_at: string | null;
  outcomes: { id: string }[];
  current_prices: Record<string, { price: Maybe; bid: Maybe; ask: Maybe }>;
  price_24h_changes: Record<string, Maybe>;
  volume_24h: Maybe;
  volume_total: Maybe;
  volume_24h_usd: Maybe;
  volume_total_usd: Maybe;
  liquidity: Maybe;
  liquidity_usd: Maybe;
  trading_end_at: string | null;
  metadata: { payouts?: Record<string, number> };
}
interface Level {
  price: number;
  size: number;
}
interface Trade {
  outcome: string;
  price: number;
  size: number;
  notional_value: number;
  timestamp: number;
  metadata: { executed_at?: string };
}

interface Bar {
  price: { open: Maybe; high: Maybe; low: Maybe; close: Maybe };
  liquidity: { best_bid: Maybe; best_ask: Maybe };
  volume: Maybe;
  trade_count: Maybe;
  open_interest: Maybe;
}

interface Metrics {
  volume: { volume_24h: Maybe; volume_7d: Maybe; volume_30d: Maybe; total: Maybe };
  liquidity: { total: Maybe; liquidity_score: Maybe };
  spread: { best_bid: Maybe; best_ask: Maybe; spread: Maybe; adjusted_midpoint: Maybe };
  fees: { fee_rate: Maybe; trading_fee: Maybe };
  notional_value: Maybe;
  open_interest: Maybe;
  competitive_score: Maybe;
  unique_traders: Maybe;
}

const first = ({ outcomes, current_prices: prices }: Market) => prices[outcomes[0]?.id ?? ''];
const changeOf = ({ outcomes, price_24h_changes: changes }: Market): Maybe => changes[outcomes[0]?.id ?? ''];
/** Times without a value are shown as unknown too. */
const unlessDated = (at: string | null): null[] => (at === null ? [null] : []);
const SCALE = 10;
const scaled = (value: number): bigint => toUnits(String(value), SCALE);
const exactSum = (values: readonly number[]): number =>
  toNumber(
    values.reduce((all, value) => all + scaled(value), 0n),
    SCALE,
  );
type Figure = 'volume_24h' | 'volume_7d';
type Category = { active_markets: number; avg_spread: Maybe } & { [F in Figure as `${F}_usd`]: Maybe };
/** A sum in USD over categories, null if it is known of none. */
function sumOf(rows: readonly Category[], figure: Figure): Maybe {
  const values = rows.flatMap((row) => row[`${figure}_usd`] ?? []);
  return values.length === 0 ? null : exactSum(values);
}
const escaped = (unified: string): string => encodeURIComponent(unified.slice(unified.indexOf(':') + 1));
const newestFirst = (a: Trade, b: Trade): number => executedAt(b).localeCompare(executedAt(a));
const executedAt = ({ metadata, timestamp }: Trade): string =>
  metadata.executed_at ?? new Date(timestamp * 1000).toISOString();

async function marketOf(api: Answers, platform: string, id: string): Promise<Market> {
  const { markets } = await api<{ markets: [Market] }>(`markets/id/${escaped(id)}?provider=${platform}`);
  return markets[0];
}

async function newest(api: Answers, asked: string): Promise<Market[]> {
  const { results } = await api<{ results: { market: Market }[] }>(`search?types=markets&${asked}&limit=15`);
  return results.map(({ market }) => market);
}

/** The numbers that each part of the explorer must show, in the order of the page, from answers of the API. */
export const expectedOf = {
  /** Of these markets, in this order. */
  async listed(api: Answers, platform: string, ids: readonly string[]): Promise<Maybe[]> {
    const wanted = encodeURIComponent(ids.join(','));
    const { markets } = await api<{ markets: Market[] }>(`markets?provider=${platform}&market_ids=${wanted}`);
    const found = new Map(markets.map((market) => [market.id, market]));
    return ids.flatMap((id) => {
      const market = found.get(id);
      if (!market) return [];
      const { price, bid, ask } = first(market) ?? {};
      const ends = unlessDated(market.trading_end_at);
      const amounts = [market.volume_24h_usd, market.volume_total_usd, market.liquidity_usd];
      return [price, changeOf(market), bid, ask, ...amounts, ...ends];
    });
  },

  async eventHead(api: Answers, platform: string, id: string): Promise<Maybe[]> {
    const { event } = await api<{ event: Market & { markets_count: number; open_markets: number } }>(
      `events/${encodeURIComponent(id)}?provider=${platform}`,
    );
    const ends = unlessDated(event.trading_end_at);
    const amounts = [event.volume_24h_usd, event.volume_total_usd, event.liquidity_usd];
    return [event.markets_count, event.open_markets, ...ends, ...amounts];
  },

  async eventMarkets(api: Answers, platform: string, id: string): Promise<Maybe[]> {
    const { markets } = await api<{ markets: Market[] }>(`events/${encodeURIComponent(id)}?provider=${platform}`);
    const priceOf = (market: Market): number => first(market)?.price ?? -1;
    const prices = markets.flatMap((market) => first(market)?.price ?? []);
    const rows = markets.toSorted((a, b) => priceOf(b) - priceOf(a));
    return [
      ...(markets.length > 1 ? [prices.length === 0 ? null : exactSum(prices)] : []),
      ...rows.flatMap((market) => {
        const { price, bid, ask } = first(market) ?? {};
        const paid = market.metadata.payouts?.[market.outcomes[0]?.id ?? ''];
        const figures = [price, changeOf(market), bid, ask, market.volume_24h_usd, market.liquidity_usd];
        if (paid !== undefined) figures.unshift(paid);
        return figures;
      }),
    ];
  },

  async outcomes(api: Answers, platform: string, id: string): Promise<Maybe[]> {
    const market = await marketOf(api, platform, id);
    return market.outcomes.slice(0, 4).flatMap((outcome) => {
      const { price, bid, ask } = market.current_prices[outcome.id] ?? {};
      const moved = market.price_24h_changes[outcome.id];
      return market.status === 'settled'
        ? [price, moved, market.metadata.payouts?.[outcome.id]]
        : [price, moved, bid, ask];
    });
  },

  async book(api: Answers, platform: string, id: string): Promise<Maybe[]> {
    const { data } = await api<{ data: { yes: { bids: Level[]; asks: Level[] } } }>(
      `markets/id/${escaped(id)}/orderbook?provider=${platform}`,
    );
    const { bids, asks } = data.yes;
    const rows = (levels: Level[]): Maybe[][] =>
      levels.slice(0, 12).map(({ price, size }, n) => {
        return [price, size, exactSum(levels.slice(0, n + 1).map((level) => level.size))];
      });
    const [bid, ask] = [bids[0], asks[0]];
    const spread = bid && ask ? [toNumber(scaled(ask.price) - scaled(bid.price), SCALE)] : [];
    const depth = exactSum([...bids, ...asks].map(({ size }) => size));
    return [...rows(asks).toReversed().flat(), ...spread, ...rows(bids).flat(), depth];
  },

  async tape(api: Answers, platform: string, id: string): Promise<Maybe[]> {
    const { trades } = await api<{ trades: Trade[] }>(
      `trades/whales?platform=${platform}&market_id=${escaped(id)}&min_size=0&limit=100`,
    );
    const { outcomes } = await marketOf(api, platform, id);
    const isOther = (outcome: string): boolean => outcomes.length === 2 && outcome === outcomes[1]?.id;
    return trades
      .toSorted(newestFirst)
      .flatMap(({ outcome, price, size, notional_value: notional }) => [
        isOther(outcome) ? toNumber(scaled(1) - scaled(price), SCALE) : price,
        size,
        notional,
      ]);
  },

  /** Of the last bucket of an hour. */
  async candle(api: Answers, platform: string, id: string): Promise<Maybe[]> {
    const from = Math.floor(Date.now() / 1000) - 7 * 86_400;
    const { data } = await api<{ data: Bar[] }>(
      `metrics/historical?platform=${platform}&market_id=${escaped(id)}&interval=1h&start_ts=${from}&limit=5000`,
    );
    const last = data.at(-1);
    if (!last) return [];
    const { price, liquidity, volume, trade_count: trades, open_interest: held } = last;
    const interest = data.some((bar) => bar.open_interest !== null) ? [held] : [];
    const quotes = [liquidity.best_bid, liquidity.best_ask];
    return [price.open, price.high, price.low, price.close, ...quotes, volume, trades, ...interest];
  },

  async figures(api: Answers, platform: string, id: string): Promise<Maybe[]> {
    const { metrics } = await api<{ metrics: Metrics }>(
      `metrics/snapshot?platform=${platform}&market_id=${escaped(id)}`,
    );
    const { volume, liquidity, spread, fees } = metrics;
    return [
      [volume.volume_24h, volume.volume_7d, volume.volume_30d, volume.total],
      [metrics.notional_value, metrics.open_interest, liquidity.total, liquidity.liquidity_score],
      [spread.best_bid, spread.best_ask, spread.spread, spread.adjusted_midpoint],
      [fees.fee_rate, fees.trading_fee, metrics.competitive_score, metrics.unique_traders],
    ].flat();
  },

  async trending(api: Answers): Promise<Maybe[]> {
    const { trending } = await api<{
      trending: {
        current_price: { yes: Maybe };
        change: { price_change_24h: Maybe; volume_24h: Maybe };
      }[];
    }>('analytics/trending?window=24h&sort_by=volume_change&limit=15');
    return trending.flatMap(({ current_price: { yes }, change }) => [yes, change.price_change_24h, change.volume_24h]);
  },

  async largeTrades(api: Answers): Promise<Maybe[]> {
    const { trades } = await api<{ trades: Trade[] }>('trades/whales?min_size=0&min_notional=100&limit=30');
    return trades.toSorted(newestFirst).flatMap(({ price, notional_value: notional }) => [price, notional]);
  },

  async categories(api: Answers): Promise<Maybe[]> {
    const { categories } = await api<{ categories: Category[] }>('analytics/categories');
    const rows = categories.toSorted((a, b) => (b.volume_24h_usd ?? -1) - (a.volume_24h_usd ?? -1));
    return [
      ...rows.flatMap((row) => [row.active_markets, row.avg_spread, row.volume_24h_usd]),
      sumOf(rows, 'volume_24h'),
    ];
  },

  async newMarkets(api: Answers): Promise<Maybe[]> {
    const markets = await newest(api, 'status=open&sort=created');
    return markets.map((market) => first(market)?.price);
  },

  async settledMarkets(api: Answers): Promise<Maybe[]> {
    const markets = await newest(api, 'status=settled&sort=resolved');
    return markets.map((market) => market.metadata.payouts?.[market.outcomes[0]?.id ?? '']);
  },

  async platformVolumes(api: Answers, platforms: readonly string[]): Promise<Maybe[]> {
    const rows = await Promise.all(
      platforms.map(async (platform) => {
        const { categories, meta } = await api<{
          categories: Category[];
          meta: { total_active_markets: number };
        }>(`analytics/categories?platform=${platform}`);
        const [week, day] = [sumOf(categories, 'volume_7d'), sumOf(categories, 'volume_24h')];
        return { open: meta.total_active_markets, week, day };
      }),
    );
    return rows.toSorted((a, b) => (b.day ?? -1) - (a.day ?? -1)).flatMap(({ open, week, day }) => [open, week, day]);
  },

  async calibration(api: Answers): Promise<Maybe[]> {
    const { calibration, meta } = await api<{
      calibration: {
        price_from: number;
        price_to: number;
        came_true_share: Maybe;
        mean_price: Maybe;
        markets: number;
      }[];
      meta: { brier_score: Maybe; markets: number; left_out: { no_price: number } };
    }>('analytics/calibration?horizon=1h');
    const bins = calibration.flatMap((bin) => [
      bin.price_from,
      bin.price_to,
      bin.came_true_share,
      bin.mean_price,
      bin.markets,
    ]);
    return [...bins, meta.brier_score, meta.markets, meta.left_out.no_price];
  },
};
