import { z } from 'zod';
import { marketKey } from '../core/market-key.ts';
import type { Clock } from '../core/time.ts';
import type { Platform } from '../core/model.ts';
import { unknownMarket, type WantedMarket } from '../markets/lookup.ts';
import type { PresentMarkets } from '../markets/present-markets.ts';
import { marketsOfKeys, type PresentMarket } from '../present/read.ts';
import type { Match } from '../schemas/markets.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { InfoText, PricedStateText, toMarket } from './market-rows.ts';

const RawRow = z.object({ market_key: z.string(), raw: z.string() });

/** What current markets are read with. */
export interface Reading {
  clickhouse: Pick<ClickHouse, 'query' | 'sql'>;
  postgres: Pick<Postgres, 'db'>;
  clock: Pick<Clock, 'now'>;
}

/** Adds the look-up of markets by the ids of callers. */
type Services = Reading & { markets: PresentMarkets };

/** The market of a user's id, and its reference. One that is not stored is read from the platform; 404 if that does not know it. */
export async function listedMarket(
  services: Services,
  { platform, id, user }: WantedMarket,
  withRaw: boolean,
): Promise<{ ref: string; market: Market }> {
  const found = await services.markets.find(platform, id, user);
  if (!found) throw await unknownMarket(services.markets, platform, id);
  const raws = withRaw ? await rawsOf(services, platform, [found]) : new Map<string, string>();
  return { ref: found.ref, market: answerOf(platform, found, raws.get(found.ref), services.clock.now()) };
}

/**
 * Looks a list of ids up. Returns each stored market once, in the order of the list, and the ids, as received, that no stored market has.
 */
export async function marketsOfIds(
  services: Services,
  platform: Platform,
  ids: readonly { id: string; given: string }[],
  withRaw: boolean,
): Promise<{ markets: Market[]; notFound: string[] }> {
  const found = await services.markets.named(
    platform,
    ids.map(({ id }) => id),
  );
  const unique = new Map(ids.flatMap(({ id }) => found.get(id) ?? []).map((market) => [market.ref, market]));
  return {
    markets: await marketsOf(services, platform, [...unique.values()], withRaw),
    notFound: ids.flatMap(({ id, given }) => (found.has(id) ? [] : [given])),
  };
}

/** The platform's own objects of these markets, by reference; they are in ClickHouse. */
async function rawsOf(
  { clickhouse }: Reading,
  platform: Platform,
  found: readonly PresentMarket[],
): Promise<ReadonlyMap<string, string>> {
  const keys = new Map(found.map(({ ref }) => [marketKey({ platform, ref }), ref]));
  const rows = await clickhouse.query('markets_raw', RawRow, { platform, keys: [...keys.keys()].map(BigInt) });
  return new Map(rows.map(({ market_key: key, raw }) => [keys.get(key) ?? '', raw]));
}

/** These markets as answers show them, in their order; with the platform's own objects if `withRaw`. */
export async function marketsOf(
  reading: Reading,
  platform: Platform,
  found: readonly FoundMarket[],
  withRaw: boolean,
): Promise<Market[]> {
  const raws = withRaw ? await rawsOf(reading, platform, found) : new Map<string, string>();
  const nowMs = reading.clock.now();
  return found.map((one) => answerOf(platform, one, raws.get(one.ref), nowMs));
}

/** A market, and how a search found it. */
type FoundMarket = PresentMarket & { match?: Match | undefined };

function answerOf(
  platform: Platform,
  { info, state, traders, match }: FoundMarket,
  raw: string | undefined,
  nowMs: number,
): Market {
  return toMarket({
    platform,
    info: InfoText.parse(JSON.parse(info)),
    state: PricedStateText.parse(JSON.parse(state)),
    traders: traders === null ? undefined : { unique_traders: traders.count, unique_traders_since: traders.since },
    raw,
    match,
    nowMs,
  });
}

/** The stored ones of these markets, by key, without the platform's own objects. One statement. */
export async function marketsByKey(
  { postgres, clock }: Pick<Reading, 'postgres' | 'clock'>,
  sides: readonly { platform: Platform; key: string }[],
): Promise<Map<string, Market>> {
  const platforms = new Map(sides.map(({ platform, key }) => [key, platform]));
  const stored = await marketsOfKeys(postgres, [...platforms.keys()]);
  const nowMs = clock.now();
  return new Map(
    [...platforms].flatMap(([key, platform]) => {
      const market = stored.get(key);
      return market ? [[key, marketAnswer(platform, market, nowMs)] as const] : [];
    }),
  );
}

/** A copied market as answers show it, without the platform's own objects. */
export const marketAnswer = (platform: Platform, found: FoundMarket, nowMs: number): Market =>
  answerOf(platform, found, undefined, nowMs);

export type Market = ReturnType<typeof toMarket>;
