import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../core/time.ts';
import { Cache } from '../core/cache.ts';
import type { EventRecord, MarketRecord, Platform, SeriesRecord } from '../core/model.ts';
import type { ClickHouse, Urgency } from '../stores/clickhouse/client.ts';
import { eventRow, seriesRow } from '../stores/clickhouse/insert-rows.ts';
import { ParentRow } from '../present/parents.ts';
import { versionOf } from './row-version.ts';

/** Events and series whose last written form is kept in memory. */
const REMEMBERED = 200_000;
const LOOKBACK_IDS = 1000;

/** A row of sql/queries/parents_lookback.sql. */
const StoredParent = ParentRow.omit({ of_platform: true, key: true }).extend({ version: z.string() });
type StoredParent = z.infer<typeof StoredParent>;

/** Stores events and series whose content changed. Writing the same body twice changes nothing. */
export class EventWriter {
  readonly #clickhouse: ClickHouse;
  readonly #clock: Clock;
  readonly #written = new Cache<string, string>({ limit: REMEMBERED });

  constructor(clickhouse: ClickHouse, clock: Clock) {
    this.#clock = clock;
    this.#clickhouse = clickhouse;
  }

  /** Stores the events and series of these markets of one platform, and series that were listed by themselves; returns the ids of those that were stored. */
  async write(
    platform: Platform,
    markets: readonly MarketRecord[],
    listed: readonly SeriesRecord[] = [],
    urgency: Urgency = {},
  ): Promise<{ events: readonly string[]; series: readonly string[] }> {
    const nowMs = this.#clock.now();
    const fetchedAt = markets[0]?.fetchedAt ?? new Date(nowMs).toISOString();
    const { events, series } = this.#dueOf(markets, listed);
    const stored = await this.#stored(platform, [...events.keys()], [...series.keys()]);
    const versionAfter = (known: StoredParent | undefined) => versionOf(fetchedAt, known?.version, nowMs);
    const rows = {
      events: [...events.values()].map(({ record }) => {
        const known = stored.get(`event ${record.eventId}`);
        return eventRow(completeEvent(record, known), versionAfter(known));
      }),
      series: [...series.values()].map(({ record }) => {
        const known = stored.get(`series ${record.seriesId}`);
        return seriesRow(completeSeries(record, known), versionAfter(known));
      }),
    };
    const insert = (table: string, written: object[]) => this.#clickhouse.insert(table, written, urgency);
    await Promise.all([insert('events', rows.events), insert('series', rows.series)]);
    for (const { key, print } of [...events.values(), ...series.values()]) this.#written.set(key, print);
    return { events: [...events.keys()], series: [...series.keys()] };
  }

  /** Those of the records whose event or series differs from what was written. */
  unwritten(records: readonly MarketRecord[]): Set<MarketRecord> {
    const { events, series } = this.#dueOf(records);
    const isDue = (record: MarketRecord): boolean =>
      eventRecordsOf(record).some(({ eventId }) => events.has(eventId)) ||
      seriesOf(record).some(({ seriesId }) => series.has(seriesId));
    return new Set(events.size + series.size === 0 ? [] : records.filter(isDue));
  }

  /** The events and series of markets, and these series, that differ from what was written, by id. */
  #dueOf(markets: readonly MarketRecord[], listed: readonly SeriesRecord[] = []) {
    const events = newest(markets.flatMap(eventRecordsOf), ({ eventId }) => eventId);
    const series = newest([...markets.flatMap(seriesOf), ...listed], ({ seriesId }) => seriesId);
    return { events: this.#due('event', events), series: this.#due('series', series) };
  }

  #due<R extends { platform: Platform }>(kind: string, records: ReadonlyMap<string, R>) {
    const due = new Map<string, { record: R; key: string; print: string }>();
    for (const [id, record] of records) {
      const key = `${kind} ${record.platform} ${id}`;
      const print = hash('sha1', JSON.stringify(record), 'base64url');
      if (this.#written.get(key) !== print) due.set(id, { record, key, print });
    }
    return due;
  }

  async #stored(platform: Platform, eventIds: string[], seriesIds: string[]): Promise<Map<string, StoredParent>> {
    const found = new Map<string, StoredParent>();
    for (let from = 0; from < Math.max(eventIds.length, seriesIds.length); from += LOOKBACK_IDS) {
      const part = (ids: string[]): string[] => ids.slice(from, from + LOOKBACK_IDS);
      const params = { platform, event_ids: part(eventIds), series_ids: part(seriesIds) };
      for (const row of await this.#clickhouse.query('parents_lookback', StoredParent, params)) {
        found.set(`${row.kind} ${row.id}`, row);
      }
    }
    return found;
  }
}

/** The last record of each id. */
const newest = <R>(records: readonly R[], id: (record: R) => string): Map<string, R> =>
  new Map(records.map((record) => [id(record), record]));

/** A market's event; built from the market's own fields if the event itself was not read. */
function eventRecordsOf({ info, event }: MarketRecord): EventRecord[] {
  if (event) return [event];
  if (info.eventId === '') return [];
  const { platform, eventId, seriesId, category, categorySlug } = info;
  return [
    {
      platform,
      eventId,
      seriesId,
      slug: '',
      title: info.eventName,
      category,
      categorySlug,
      tags: [],
      mutuallyExclusive: null,
      imageUrl: '',
      sourceUrl: '',
      marketIds: [],
    },
  ];
}

function seriesOf({ info, series }: MarketRecord): SeriesRecord[] {
  if (series) return [series];
  if (info.seriesId === '') return [];
  const { platform, seriesId, category, categorySlug } = info;
  return [{ platform, seriesId, title: '', category, categorySlug, frequency: null }];
}

/** Keeps fields that a shorter body lacks, as for markets. */
function completeEvent(event: EventRecord, stored: StoredParent | undefined): EventRecord {
  if (!stored) return event;
  return {
    ...event,
    seriesId: event.seriesId || stored.series_id,
    slug: event.slug || stored.slug,
    title: event.title || stored.title,
    category: event.category || stored.category,
    categorySlug: event.category ? event.categorySlug : stored.category_slug,
    tags: event.tags.length > 0 ? event.tags : stored.tags,
    mutuallyExclusive: event.mutuallyExclusive ?? stored.mutually_exclusive,
    imageUrl: event.imageUrl || stored.image_url,
    sourceUrl: event.sourceUrl || stored.source_url,
    marketIds: inOrder(event.marketIds, stored.market_ids),
  };
}

/** The order of the listing; an unlisted market, such as an archived one, stays after the one it followed. */
function inOrder(listed: readonly string[], stored: readonly string[]): string[] {
  if (listed.length === 0) return [...stored];
  const listedIds = new Set(listed);
  const order = [...listed];
  for (const [i, id] of stored.entries()) {
    if (!listedIds.has(id)) order.splice(order.indexOf(stored[i - 1] ?? '') + 1, 0, id);
  }
  return order;
}

function completeSeries(series: SeriesRecord, stored: StoredParent | undefined): SeriesRecord {
  if (!stored) return series;
  return {
    ...series,
    title: series.title || stored.title,
    category: series.category || stored.category,
    categorySlug: series.category ? series.categorySlug : stored.category_slug,
    frequency: series.frequency ?? stored.frequency,
  };
}
