import { z } from 'zod';
import { ApiError, platformName } from '../core/errors.ts';
import { type Platform, PLATFORMS } from '../core/model.ts';
import { marketName } from '../core/market-key.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { likelyRef, normalId, type StoredMarkets } from './directory.ts';

/** Dependencies of a look-up. */
interface Lookup {
  markets: StoredMarkets;
  clickhouse: ClickHouse;
}

/** A market requested by a user. */
export interface WantedMarket {
  platform: Platform;
  /** Any id of it. */
  id: string;
  /** The user whose share of the platform's budgets pays for a look-up. */
  user: string;
}

/** The stored market, read from the platform if it is not stored; 404 if neither knows it. */
export async function requireMarket(services: Lookup, { platform, id, user }: WantedMarket): Promise<StoredMarket> {
  const market = await services.markets.byAnyId(platform, id, user);
  if (market) return market;
  throw await unknownMarket(services, platform, id);
}

/** The stored markets of a list of ids, in its order, without duplicates. Nothing is read from platforms. */
export async function storedMarkets(
  stored: StoredMarkets,
  platform: Platform,
  ids: readonly { id: string; given: string }[],
): Promise<{
  markets: StoredMarket[];
  /** The ids, as received, of no stored market, or of none that was `answered`: a market may be dropped after the look-up. */
  notFound: (answered?: ReadonlySet<string>) => string[];
}> {
  const found = await stored.storedByAnyIds(
    platform,
    ids.map(({ id }) => id),
  );
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

/**
 * A market, and what `read` returns for its reference. The id is nearly always the reference, so both are read at the same time;
 * for a market that had to be fetched, `value` is from before.
 */
export async function marketWith<T>(
  services: Lookup,
  wanted: WantedMarket,
  read: (ref: string) => Promise<T>,
): Promise<{ market: StoredMarket; value: T }> {
  const guess = likelyRef(wanted.platform, wanted.id);
  const early = guess === null ? null : read(guess);
  // Thrown below, if it is still needed.
  early?.catch(() => {});
  const market = await requireMarket(services, wanted);
  return { market, value: await (early !== null && market.ref === guess ? early : read(market.ref)) };
}

/** 404; for the id of an event it names the event's markets, for one of another platform's stored market that platform. */
export async function unknownMarket(
  { clickhouse, markets }: Lookup,
  platform: Platform,
  id: string,
): Promise<ApiError> {
  const name = platformName(platform);
  const event = normalId(platform, id);
  const children =
    event === null
      ? []
      : await clickhouse.query('event_markets', z.object({ platform_id: z.string() }), { platform, id: event });
  const ids = children.map((child) => child.platform_id).join(', ');
  const elsewhere = ids ? [] : await onOtherPlatforms(markets, platform, id);
  return new ApiError(404, `Market not found on ${name}`, {
    resolution: ids
      ? `This is an event: use one of its markets, ${ids}.`
      : elsewhere.length > 0
        ? `This is ${elsewhere.join(' and ')}: name that platform.`
        : 'Check the id and the provider; GET /v1/api/markets lists all markets.',
    errorText: `no market ${JSON.stringify(id)} on ${name}`,
  });
}

/** Unified ids of the stored markets that have this id on other platforms. */
async function onOtherPlatforms(markets: StoredMarkets, platform: Platform, id: string): Promise<string[]> {
  const others = PLATFORMS.filter((other) => other !== platform);
  const found = await Promise.all(others.map((other) => markets.storedByAnyId(other, id)));
  return found.flatMap((market) => (market ? [marketName({ platform: market.platform, ref: market.platformId })] : []));
}
