import { marketName } from '../core/market-key.ts';
import { ApiError, platformName } from '../core/errors.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import type { HeldBars, HeldRange } from '../present/trades/bars.ts';
import type { CurrentMarket, PresentMarkets } from './present-markets.ts';
import { historyFrom, type HistoryStores, type StoredHistory } from './trade-history.ts';

/** Markets of an event that an error names. */
const NAMED = 20;

/** A market requested by a user. */
export interface WantedMarket {
  platform: Platform;
  /** Any id of it. */
  id: string;
  /** The user whose share of the platform's budgets pays for a look-up. */
  user: string;
}

/** The stored market, read from the platform if it is not stored; 404 if neither knows it. */
export async function requireMarket(
  { markets }: { markets: PresentMarkets },
  { platform, id, user }: WantedMarket,
): Promise<CurrentMarket> {
  const market = await markets.byAnyId(platform, id, user);
  if (market) return market;
  throw await unknownMarket(markets, platform, id);
}

/** A market and its stored history, with bars of its first series. */
export interface MarketHistory {
  market: CurrentMarket;
  history: StoredHistory;
  /** null if PostgreSQL lacks some trades of the range. */
  bars: HeldBars | null;
}

/** The markets of several ids with their histories over a range, without duplicates; 404 if a market is unknown. */
export async function requireHistories(
  services: HistoryStores & { markets: PresentMarkets },
  platform: Platform,
  { ids, user }: { ids: readonly string[]; user: string },
  range: HeldRange,
): Promise<MarketHistory[]> {
  // Before the markets: their spans are compared with it.
  const freshTo = await services.freshness.trades([platform]);
  const read = (names: readonly string[]) => services.markets.historiesByAnyIds(platform, names, range);
  const stored = await read(ids);
  const unread = ids.filter((id) => !stored.has(id));
  const fetched = await Promise.all(
    unread.map(async (id) => [id, (await requireMarket(services, { platform, id, user })).ref] as const),
  );
  const refs = new Map(fetched);
  const others = await read([...refs.values()]);
  const found = ids.flatMap((id) => stored.get(id) ?? others.get(refs.get(id) ?? '') ?? []);
  return Promise.all(
    Array.from(new Map(found.map((one) => [one.market.ref, one])).values(), async ({ market, bars, ...held }) => ({
      market,
      history: await historyFrom(services.clickhouse, market, held, freshTo),
      bars,
    })),
  );
}

/** A market by any id, on any platform if none is given: stored markets come before those that would have to be fetched. */
export async function anyMarket(
  services: { markets: PresentMarkets; config: { platforms: readonly Platform[] } },
  platform: Platform | undefined,
  id: string,
  user: string,
): Promise<CurrentMarket> {
  const { config, markets } = services;
  if (platform) return requireMarket(services, { platform, id, user });
  const stored = await markets.onPlatforms(config.platforms, id);
  const home = config.platforms.find((one) => stored.has(one));
  const known = home && stored.get(home);
  if (known) return known;
  for (const one of config.platforms) {
    const market = await markets.byAnyId(one, id, user);
    if (market) return market;
  }
  throw new ApiError(404, 'Market not found on any platform', {
    resolution: 'Check the id; GET /v1/api/markets lists all markets.',
    errorText: `no market ${JSON.stringify(id)} on ${config.platforms.map(platformName).join(', ')}`,
  });
}

/** The stored markets of a list of ids, in its order, without duplicates. Nothing is read from platforms. */
export async function storedMarkets<T extends CurrentMarket>(
  find: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ids: readonly { id: string; given: string }[],
): Promise<{
  markets: T[];
  /** The ids, as received, of no stored market, or of none that was `answered`: a market may be dropped after the look-up. */
  notFound: (answered?: ReadonlySet<string>) => string[];
}> {
  const found = await find(ids.map(({ id }) => id));
  const markets = new Map(ids.flatMap(({ id }) => found.get(id) ?? []).map((market) => [market.ref, market]));
  return {
    markets: [...markets.values()],
    notFound: (answered) =>
      ids.flatMap(({ id, given }) => {
        const market = found.get(id);
        return market && (!answered || answered.has(market.platformId)) ? [] : [given];
      }),
  };
}

/** 404; for the id of an event it names the event's markets, for one of another platform's stored market that platform. */
export async function unknownMarket(markets: PresentMarkets, platform: Platform, id: string): Promise<ApiError> {
  const name = platformName(platform);
  const children = (await markets.idsOfEvent(platform, id, NAMED)).join(', ');
  const elsewhere = children ? [] : await onOtherPlatforms(markets, platform, id);
  return new ApiError(404, `Market not found on ${name}`, {
    resolution: children
      ? `This is an event: use one of its markets, ${children}.`
      : elsewhere.length > 0
        ? `This is ${elsewhere.join(' and ')}: name that platform.`
        : 'Check the id and the provider; GET /v1/api/markets lists all markets.',
    errorText: `no market ${JSON.stringify(id)} on ${name}`,
  });
}

/** Unified ids of the stored markets that have this id on other platforms. */
async function onOtherPlatforms(markets: PresentMarkets, platform: Platform, id: string): Promise<string[]> {
  const others = PLATFORMS.filter((other) => other !== platform);
  const found = await markets.onPlatforms(others, id);
  return others.flatMap((other) => {
    const market = found.get(other);
    return market ? [marketName({ platform: other, ref: market.platformId })] : [];
  });
}
