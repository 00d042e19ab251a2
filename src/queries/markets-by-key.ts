import { z } from 'zod';
import { marketKey } from '../core/market-key.ts';
import type { Platform } from '../core/model.ts';
import { normalId } from '../markets/directory.ts';
import { requireMarket, unknownMarket, type WantedMarket } from '../markets/lookup.ts';
import type { Projector } from '../present/projector.ts';
import { marketsNamed, type PresentMarket } from '../present/read.ts';
import type { Match } from '../schemas/markets.ts';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Postgres } from '../stores/postgres/client.ts';
import { InfoText, StateText, TextRow, toMarket, TradersText } from './market-rows.ts';

const RawRow = z.object({ market_key: z.string(), raw: z.string() });

/**
 * Markets by key as of `nowMs`, in the given order; unlisted ones are left out. `withRaw` adds the platform's own objects; `matches` is
 * how a search found them.
 */
export async function marketsByKey(
  clickhouse: Pick<ClickHouse, 'query'>,
  platform: Platform,
  keys: readonly string[],
  { withRaw, nowMs, matches }: { withRaw: boolean; nowMs: number; matches?: ReadonlyMap<string, Match> },
): Promise<Market[]> {
  if (keys.length === 0) return [];
  const of = { platform, keys: keys.map(BigInt) };
  const [texts, raws] = await Promise.all([
    clickhouse.query('market_texts', TextRow, of),
    withRaw ? clickhouse.query('markets_raw', RawRow, of) : [],
  ]);
  return marketsOf(platform, keys, { texts, raws, nowMs, matches });
}

/** What current markets are read with. */
interface Reading {
  clickhouse: Pick<ClickHouse, 'query'>;
  postgres: Pick<Postgres, 'db'>;
  now: () => number;
}

/** The market of a user's id, and its reference. One that is not stored is read from the platform; 404 if that does not know it. */
export async function listedMarket(
  services: Parameters<typeof requireMarket>[0] & Reading & { present: Pick<Projector, 'copyNow'> },
  wanted: WantedMarket,
  withRaw: boolean,
): Promise<{ ref: string; market: Market }> {
  const { platform, id } = wanted;
  const found = (await namedMarket(services, platform, id)) ?? (await fetchedMarket(services, wanted));
  const raws = withRaw ? await rawsOf(services, platform, [found]) : new Map<string, string>();
  return { ref: found.ref, market: answerOf(platform, found, raws.get(found.ref), services.now()) };
}

/** The stored markets of a list of ids, in its order, without duplicates, and the ids, as received, of no stored market. */
export async function marketsOfIds(
  services: Parameters<typeof listedMarket>[0],
  platform: Platform,
  ids: readonly { id: string; given: string }[],
  withRaw: boolean,
): Promise<{ markets: Market[]; notFound: string[] }> {
  const names = ids.map(({ id }) => normalId(platform, id) ?? '');
  const found = await marketsNamed(services.postgres, platform, [...new Set(names)]);
  const missing = names.filter((name) => name !== '' && !found.has(name));
  for (const [name, market] of await copiedNow(services, platform, missing)) found.set(name, market);
  const unique = new Map(names.flatMap((name) => found.get(name) ?? []).map((market) => [market.ref, market]));
  const raws = withRaw ? await rawsOf(services, platform, [...unique.values()]) : new Map<string, string>();
  const nowMs = services.now();
  return {
    markets: [...unique.values()].map((one) => answerOf(platform, one, raws.get(one.ref), nowMs)),
    notFound: ids.filter((_, at) => !found.has(names[at] ?? '')).map(({ given }) => given),
  };
}

/** Those of these markets that are stored and not copied yet, by name. */
async function copiedNow(
  { markets, present, postgres }: Parameters<typeof listedMarket>[0],
  platform: Platform,
  names: readonly string[],
): Promise<ReadonlyMap<string, PresentMarket>> {
  if (names.length === 0) return new Map();
  const stored = await markets.storedByAnyIds(platform, names);
  if (stored.size === 0) return new Map();
  await present.copyNow(platform, [...new Set([...stored.values()].map(({ ref }) => ref))]);
  return marketsNamed(postgres, platform, names);
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

async function namedMarket({ postgres }: { postgres: Pick<Postgres, 'db'> }, platform: Platform, id: string) {
  const name = normalId(platform, id);
  return name === null ? undefined : (await marketsNamed(postgres, platform, [name])).get(name);
}

/** A market that was stored just now may not be copied yet. Its platform may also have dropped it since it was found. */
async function fetchedMarket(services: Parameters<typeof listedMarket>[0], wanted: WantedMarket) {
  const { platform, ref } = await requireMarket(services, wanted);
  await services.present.copyNow(platform, [ref]);
  const found = await namedMarket(services, platform, ref);
  if (!found) throw await unknownMarket(services, wanted.platform, wanted.id);
  return found;
}

function answerOf(
  platform: Platform,
  { info, state, traders }: PresentMarket,
  raw: string | undefined,
  nowMs: number,
): Market {
  return toMarket({
    platform,
    info: InfoText.parse(JSON.parse(info)),
    state: StateText.parse(JSON.parse(state)),
    traders: traders === null ? undefined : { unique_traders: traders.count, unique_traders_since: traders.since },
    raw,
    match: undefined,
    nowMs,
  });
}

function marketsOf(
  platform: Platform,
  keys: readonly string[],
  found: {
    texts: readonly z.infer<typeof TextRow>[];
    raws: readonly z.infer<typeof RawRow>[];
    nowMs: number;
    matches?: ReadonlyMap<string, Match> | undefined;
  },
): Market[] {
  const { texts, raws, nowMs, matches } = found;
  const part = (name: string) => byKey(texts.filter((row) => row.part === name));
  const [infos, states, traders, rawOf] = [part('info'), part('state'), part('traders'), byKey(raws)];
  return keys.flatMap((key) => {
    const [info, state, took] = [infos.get(key), states.get(key), traders.get(key)];
    if (!info || !state) return [];
    return toMarket({
      platform,
      info: InfoText.parse(info.body),
      state: StateText.parse(state.body),
      traders: took && TradersText.parse(took.body),
      raw: rawOf.get(key)?.raw,
      match: matches?.get(key),
      nowMs,
    });
  });
}

export type Market = ReturnType<typeof toMarket>;

const byKey = <Row extends { market_key: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.market_key, row]));
