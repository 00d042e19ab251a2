import { z } from 'zod';
import { ApiError, platformName } from '../core/errors.ts';
import type { Platform } from '../core/model.ts';
import type { StoredMarket } from '../platforms/contract.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import { likelyRef, normalId, type StoredMarkets } from './directory.ts';

/** Where a market is looked for. */
interface Lookup {
  markets: StoredMarkets;
  clickhouse: ClickHouse;
}

/** A market as a user asks for it. */
export interface WantedMarket {
  platform: Platform;
  /** Any id of it. */
  id: string;
  /** Whose share of the platform's budgets a look-up takes. */
  user: string;
}

/** The stored market, fetched from the platform when the store does not know it; 404 when neither knows it. */
export async function requireMarket(services: Lookup, { platform, id, user }: WantedMarket): Promise<StoredMarket> {
  const market = await services.markets.byAnyId(platform, id, user);
  if (market) return market;
  throw await unknownMarket(services, platform, id);
}

/** The stored markets of a list of ids, in its order, each once. Nothing is fetched. */
export async function storedMarkets(
  stored: StoredMarkets,
  platform: Platform,
  ids: readonly { id: string; given: string }[],
): Promise<{
  markets: StoredMarket[];
  /** Ids as received that name none of these, or none that is `answered`: it may have been dropped since it was looked up. */
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
 * A market and what is read by its reference. An id is nearly always the reference itself, so that both are asked for
 * at the same time; `value` is what stood there before a market not yet stored was fetched.
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

/** 404; the id of an event is answered with those of its markets. */
export async function unknownMarket(
  { clickhouse }: Pick<Lookup, 'clickhouse'>,
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
  return new ApiError(404, `Market not found on ${name}`, {
    resolution: ids
      ? `This is an event: ask for one of its markets, ${ids}.`
      : 'Check the id and the provider; GET /v1/api/markets lists all markets.',
    errorText: `no market ${JSON.stringify(id)} on ${name}`,
  });
}
