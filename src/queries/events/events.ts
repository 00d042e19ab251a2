import { z } from 'zod';
import { decimalNumber, parseUsd, USD_SCALE } from '../../core/decimal.ts';
import { unifiedId, type Platform } from '../../core/model.ts';
import { storeTime } from '../../core/time.ts';
import type { EventAnswer } from '../../schemas/events.ts';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import type { Postgres } from '../../stores/postgres/client.ts';
import type { Projector } from '../../present/projector.ts';
import { type EventFigures, eventNamed, type PresentEvent, sumsOfEvents, type UsdSpan } from '../../present/read.ts';
import { optional } from '../market-rows.ts';
import { type Market, marketAnswer, type Reading } from '../markets-by-key.ts';

type Reader = Pick<ClickHouse, 'query'>;
export type Event = z.infer<typeof EventAnswer>;

/** A row of sql/queries/events_page.sql. */
const EventRow = z.object({
  event_key: z.string(),
  event_id: z.string(),
  series_id: z.string(),
  title: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  mutually_exclusive: z.boolean().nullable(),
  image_url: z.string(),
  source_url: z.string(),
  status: z.string(),
  markets_count: z.coerce.number(),
  open_markets: z.coerce.number(),
  volume_24h: optional,
  volume_total: optional,
  liquidity: optional,
  trading_end_at: z.string().nullable(),
  market_ids: z.array(z.string()),
});
type EventRow = z.infer<typeof EventRow>;

/** When events are described, and which of their hidden markets take part. */
interface EventsAsked {
  nowMs: number;
  include_placeholders: boolean;
  include_combos: boolean;
}

/** Events by key as of `nowMs` from ClickHouse, in the given order; events without a stored market are left out. */
export async function eventsByKey(
  clickhouse: Reader,
  platform: Platform,
  keys: readonly string[],
  { nowMs, include_placeholders, include_combos }: EventsAsked,
): Promise<Event[]> {
  if (keys.length === 0) return [];
  const rows = await clickhouse.query('events_page', EventRow, {
    platform,
    keys: keys.map(BigInt),
    at: storeTime(nowMs),
    include_placeholders,
    include_combos,
  });
  const found = new Map(rows.map((row) => [row.event_key, row]));
  return keys.flatMap((key) => {
    const row = found.get(key);
    return row ? [toEvent(platform, row)] : [];
  });
}

interface Stores extends Reading {
  present: Pick<Projector, 'copyNow'>;
}

/**
 * An event by its id or its slug on the platform, with its markets, and the figures that follow from them; null if no market of it is
 * stored. One statement to PostgreSQL; an event that is not there is looked for in ClickHouse, and copied before it is answered.
 */
export async function eventById(
  stores: Stores,
  platform: Platform,
  id: string,
  { include_placeholders: placeholders }: Pick<EventsAsked, 'include_placeholders'>,
): Promise<{ event: Event; markets: Market[] } | null> {
  const found = (await eventNamed(stores.postgres, platform, id)) ?? (await copiedEvent(stores, platform, id));
  // Combinations are shown: their events have no other markets, so that a caller who asks for such an event wants them.
  const shown = found?.markets.filter(({ hidden }) => placeholders || hidden % 2 === 0) ?? [];
  if (!found || shown.length === 0) return null;
  const { id: eventId, market_ids: listed, ...facts } = EventInfo.parse(JSON.parse(found.info));
  const markets = inPlatformOrder(
    shown.map((market) => marketAnswer(platform, market, stores.clock.now())),
    ({ platform_id: own }) => own,
    listed,
  );
  const event = { id: unifiedId(platform, eventId), platform, event_id: eventId, ...facts, ...figuresOf(markets) };
  return { event, markets };
}

async function copiedEvent({ clickhouse, postgres, present }: Stores, platform: Platform, id: string) {
  const [row] = await clickhouse.query('event_key', z.object({ event_key: z.string() }), { platform, id });
  if (!row) return null;
  const refs = await clickhouse.query('event_market_refs', z.object({ ref: z.string() }), {
    platform,
    event_key: BigInt(row.event_key),
  });
  await present.copyNow(
    platform,
    refs.map(({ ref }) => ref),
  );
  return eventNamed(postgres, platform, id);
}

const byId = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

/** Rows in the order in which the platform lists the markets; others follow by id, 9 before 10. */
function inPlatformOrder<T>(rows: readonly T[], idOf: (row: T) => string, listed: readonly string[]): T[] {
  const place = new Map(listed.map((one, n) => [one, n]));
  const placeOf = (row: T): number => place.get(idOf(row)) ?? listed.length;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b) || byId(idOf(a), idOf(b)));
}

const toEvent = (platform: Platform, row: EventRow): Event => ({
  id: unifiedId(platform, row.event_id),
  platform,
  event_id: row.event_id,
  series_id: row.series_id,
  title: row.title,
  category: row.category,
  tags: row.tags,
  status: row.status,
  markets_count: row.markets_count,
  open_markets: row.open_markets,
  volume_24h: row.volume_24h,
  volume_total: row.volume_total,
  ...usdFields(undefined),
  liquidity: row.liquidity,
  mutually_exclusive: row.mutually_exclusive,
  trading_end_at: row.trading_end_at,
  image_url: row.image_url,
  source_url: row.source_url,
  market_ids: row.market_ids,
});

const usdSpans = ['volume_24h', 'volume_7d', 'volume_total', 'liquidity'] as const satisfies readonly UsdSpan[];

/** Amounts in USD of an event; without figures none is known. */
function usdFields(figures: EventFigures['usd'] | undefined) {
  const amount = (span: UsdSpan) => decimalNumber(figures?.[span].amount ?? null, USD_SCALE);
  const known = (span: UsdSpan) => figures?.[span].markets ?? 0;
  return {
    volume_24h_usd: amount('volume_24h'),
    volume_7d_usd: amount('volume_7d'),
    volume_total_usd: amount('volume_total'),
    liquidity_usd: amount('liquidity'),
    usd_markets: {
      volume_24h: known('volume_24h'),
      volume_7d: known('volume_7d'),
      volume_total: known('volume_total'),
      liquidity: known('liquidity'),
    },
  };
}

/** Sums of what is known of these markets. */
function usdOfMarkets(markets: readonly Market[]): EventFigures['usd'] {
  const sum = (field: `${UsdSpan}_usd`) => {
    const amounts = markets.flatMap((market) => market[field] ?? []).map((amount) => parseUsd(amount));
    return { amount: amounts.length === 0 ? null : amounts.reduce((a, b) => a + b, 0n), markets: amounts.length };
  };
  return Object.fromEntries(usdSpans.map((span) => [span, sum(`${span}_usd`)])) as EventFigures['usd'];
}

/** The events with their amounts in USD. One statement to PostgreSQL. */
export async function withUsd(
  postgres: Pick<Postgres, 'db'>,
  platform: Platform,
  events: readonly Event[],
): Promise<Event[]> {
  const ids = events.map(({ event_id: id }) => id);
  const sums = await sumsOfEvents(postgres, platform, ids);
  return events.map((event) => ({ ...event, ...usdFields(sums.get(event.event_id)?.usd) }));
}

const EventInfo = EventRow.pick({
  series_id: true,
  title: true,
  category: true,
  tags: true,
  mutually_exclusive: true,
  image_url: true,
  source_url: true,
  market_ids: true,
}).extend({ id: z.string() });

const usd = (amount: bigint | null): number | null => decimalNumber(amount, USD_SCALE);

/** A copied event as answers show it. */
export function eventAnswer(platform: Platform, { info, figures, marketIds }: PresentEvent): Event {
  const { id, market_ids: listed, ...facts } = EventInfo.parse(JSON.parse(info));
  return {
    id: unifiedId(platform, id),
    platform,
    event_id: id,
    ...facts,
    status: figures.status,
    markets_count: figures.markets,
    open_markets: figures.openMarkets,
    volume_24h: usd(figures.volume24h),
    volume_total: usd(figures.volumeTotal),
    liquidity: usd(figures.liquidity),
    ...usdFields(figures.usd),
    trading_end_at: figures.endMs === null ? null : new Date(figures.endMs).toISOString(),
    market_ids: inPlatformOrder(marketIds, (one) => one, listed),
  };
}

/** States of an event, in order of precedence. */
const PRECEDENCE = ['open', 'paused', 'unopened', 'closed'] as const;

/** Figures of an event, computed from exactly these markets. */
function figuresOf(markets: readonly Market[]) {
  const statuses = new Set(markets.map(({ status }) => status));
  const ends = markets.map(({ trading_end_at: end }) => end);
  return {
    status: PRECEDENCE.find((status) => statuses.has(status)) ?? 'settled',
    markets_count: markets.length,
    open_markets: markets.filter(({ status }) => status === 'open').length,
    volume_24h: sumOf(markets.map((market) => market.volume_24h)),
    volume_total: sumOf(markets.map((market) => market.volume_total)),
    liquidity: sumOf(markets.map((market) => market.liquidity)),
    ...usdFields(usdOfMarkets(markets)),
    trading_end_at: ends.reduce<string | null>(
      (last, end) => (last === null || end === null ? null : later(last, end)),
      ends[0] ?? null,
    ),
    market_ids: markets.map(({ platform_id: id }) => id),
  };
}

const later = (a: string, b: string): string => (a > b ? a : b);

function sumOf(values: readonly (number | null)[]): number | null {
  let sum = 0n;
  for (const value of values) {
    if (value === null) return null;
    sum += parseUsd(value);
  }
  return decimalNumber(sum, USD_SCALE);
}
