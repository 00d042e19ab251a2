import { z } from 'zod';
import type { MarketRecord, SeriesRecord } from '../../core/model.ts';
import { PlatformError } from '../../core/errors.ts';
import type { ReadContext } from '../contract.ts';
import { Cache } from '../../core/cache.ts';
import { ItemReader } from '../read-items.ts';
import { type ParsedRow, isItemError, nullIfStatedAbsent, parseBody, parseRow, parseRows } from '../parse-rows.ts';
import type { KalshiClient, KalshiQuery } from './client.ts';
import { mapKalshiSeries } from './event.ts';
import { contradictsItself, isKnownStatus, mapKalshiMarket } from './market.ts';
import { sharedNames, type SharedNames } from './title.ts';
import {
  EVENT_ROW,
  KalshiEvent,
  KalshiMarket,
  KalshiSeries,
  MARKET_ROW,
  SERIES_ROW,
  isCombo,
  missingFields,
} from './wire.ts';

const EVENT_PAGE_LIMIT = 200;
/** The only source for the order of an event's markets. */
const NESTED = { with_nested_markets: 'true' } as const;
/** Tickers per look-up: keeps the URL under 4 KB. */
const EVENTS_PER_LOOKUP = 100;
/** There are about 10,000 open events; the rest belong to settled markets. */
const EVENTS_KEPT = 50_000;
/** Up to this many missing series are read one by one; beyond it the single unpaged list is cheaper. */
const SINGLE_SERIES_READS = 5;

/** Reads of items that have a request each. */
const oneByOne = (read: (ticker: string, context: ReadContext) => Promise<void>) => ({
  groupSize: 1,
  async read(tickers: readonly string[], context: ReadContext): Promise<string[]> {
    for (const ticker of tickers) await read(ticker, context);
    return [...tickers];
  },
});

/** Reports fields that every market should have and that this row lacks. */
function reportFields({ row, raw }: ParsedRow<KalshiMarket>, context: ReadContext): void {
  const report = (field: string, reason: string) =>
    context.onBadRow({ platform: 'kalshi', kind: 'market', id: row.ticker, field, reason });
  for (const field of missingFields(raw)) report(field, 'missing');
  const floor = raw['settlement_floor_dollars'] ?? null;
  if (row.settlement_bounds_type === 'floor' && floor === null) report('settlement_floor_dollars', 'missing');
  if (contradictsItself(row)) report('settlement_value_dollars', `contradicts the result ${row.result}`);
  const word = JSON.stringify(row.status.slice(0, 40));
  if (!isKnownStatus(row.status)) report('status', `unknown word ${word}, read as closed unless it has settled`);
}

const eventsOf = (markets: readonly ParsedRow<KalshiMarket>[]): Set<string> =>
  new Set(markets.map(({ row }) => row.event_ticker));

function sharedOfPage(markets: readonly ParsedRow<KalshiMarket>[]): Map<string, SharedNames> {
  const events = new Map<string, KalshiMarket[]>();
  for (const { row } of markets) {
    const rows = events.get(row.event_ticker);
    if (rows) rows.push(row);
    else events.set(row.event_ticker, [row]);
  }
  return new Map([...events].map(([ticker, rows]) => [ticker, sharedNames(rows)]));
}

/**
 * What a Kalshi market row lacks: event title and category, series, fees and sources. Events and series are cached in memory, read
 * when first needed and refreshed by the sweeps. null = requested, but not found.
 */
export class KalshiCatalog {
  readonly #client: KalshiClient;
  readonly #events = new Cache<string, ParsedRow<KalshiEvent> | 'unknown'>({ limit: EVENTS_KEPT });
  readonly #series = new Map<string, ParsedRow<KalshiSeries> | 'unknown'>();
  #allSeriesRead = false;
  /** From when on a list of changes has to be read again, Unix s. */
  readonly #unreadS = { event: Infinity, series: Infinity };
  readonly #eventReader: ItemReader<string>;
  readonly #singleEventReader: ItemReader<string>;
  readonly #seriesReader: ItemReader<string>;

  constructor(client: KalshiClient) {
    this.#client = client;
    const about = { platform: 'kalshi', kind: 'event' } as const;
    const read = (tickers: readonly string[], context: ReadContext) => this.#readEvents(tickers, context);
    this.#eventReader = new ItemReader({ ...about, groupSize: EVENTS_PER_LOOKUP, read });
    this.#singleEventReader = new ItemReader({
      ...about,
      ...oneByOne((one, context) => this.#readEvent(one, context)),
    });
    this.#seriesReader = new ItemReader({
      ...about,
      kind: 'series',
      ...oneByOne((one, context) => this.#readSeries(one, context)),
    });
  }

  /** Reads the open events, or with a time (Unix s) those changed since. */
  async listEvents(sinceS: number | null, context: ReadContext): Promise<void> {
    await this.#listSince('event', sinceS, context, async (fromS) => {
      await this.#refreshEvents(fromS === null ? { status: 'open' } : { min_updated_ts: fromS }, context);
      return [];
    });
  }

  /** Reads all series (the list is unpaged), or with a time (Unix s) those changed since. */
  async listSeries(sinceS: number | null, context: ReadContext): Promise<SeriesRecord[]> {
    return this.#listSince('series', sinceS, context, (fromS) =>
      this.#refreshSeries(fromS === null ? {} : { min_updated_ts: fromS }, context),
    );
  }

  /** A list that cannot be read is reported, and read by the next call from the same time; what it lacks is read item by item. */
  async #listSince<T>(
    kind: 'event' | 'series',
    sinceS: number | null,
    context: ReadContext,
    read: (fromS: number | null) => Promise<T[]>,
  ): Promise<T[]> {
    const fromS = sinceS === null ? null : Math.min(sinceS, this.#unreadS[kind]);
    try {
      const found = await read(fromS);
      if (fromS !== null) this.#unreadS[kind] = Infinity;
      return found;
    } catch (error) {
      if (!isItemError(error)) throw error;
      if (fromS !== null) this.#unreadS[kind] = fromS;
      const reason = `the list could not be read: ${error.message} ${error.detail}`;
      context.onBadRow({ platform: 'kalshi', kind, id: '', reason });
      return [];
    }
  }

  async #refreshEvents(query: KalshiQuery, context: ReadContext): Promise<void> {
    const all = { limit: EVENT_PAGE_LIMIT, ...NESTED, ...query };
    for await (const page of this.#client.pages('/events', 'events', all, context)) {
      this.#keepEvents(page.rows, context);
    }
  }

  async #refreshSeries(query: KalshiQuery, context: ReadContext): Promise<SeriesRecord[]> {
    const { rows } = await this.#client.page('/series', 'series', query, context);
    const found = parseRows(KalshiSeries, rows, SERIES_ROW, context);
    for (const series of found) this.#series.set(series.row.ticker, series);
    if (query.min_updated_ts === undefined) this.#allSeriesRead = true;
    return found.map(({ row }) => mapKalshiSeries(row));
  }

  /** Tries again to read events and series that failed before. Returns those that it could read now. */
  async readLeftOut(context: ReadContext): Promise<{ events: string[]; series: string[] }> {
    const events = await this.#eventReader.readLeftOut(context);
    return { events, series: await this.#seriesReader.readLeftOut(context) };
  }

  /** Market rows as records, joined with their events and series. */
  async join(rows: readonly unknown[], receivedAt: string, context: ReadContext): Promise<MarketRecord[]> {
    const markets = parseRows(KalshiMarket, rows, MARKET_ROW, context);
    const combos = markets.filter(({ row }) => isCombo(row));
    const listed = markets.filter(({ row }) => !isCombo(row));
    await this.#needEvents(eventsOf(listed), context);
    // The list omits events of combinations.
    await this.#singleEventReader.readAll(this.#missing(eventsOf(combos)), context);
    const seriesOf = (eventTicker: string) => this.#event(eventTicker)?.row.series_ticker ?? '';
    await this.#needSeries(new Set(markets.map(({ row }) => seriesOf(row.event_ticker))), context);
    const shared = sharedOfPage(markets);
    return markets.map((market) => {
      const { event_ticker } = market.row;
      reportFields(market, context);
      const series = this.#series.get(seriesOf(event_ticker));
      return mapKalshiMarket(
        market,
        this.#event(event_ticker),
        series === 'unknown' ? null : (series ?? null),
        receivedAt,
        this.#shared(event_ticker, shared),
      );
    });
  }

  /** The event lists its markets; those of the page count as well, as a list may be older, or lack archived markets. */
  #shared(eventTicker: string, page: ReadonlyMap<string, SharedNames>): SharedNames {
    const known = [this.#event(eventTicker)?.row.markets, page.get(eventTicker)].filter((names) => names != null);
    return { rivals: known.flatMap(({ rivals }) => rivals), twins: known.flatMap(({ twins }) => twins) };
  }

  /** Series of an event, '' if Kalshi does not report it. It cannot be derived from a ticker, because series get renamed. */
  async seriesTicker(eventTicker: string, context: ReadContext): Promise<string> {
    await this.#needEvents(new Set([eventTicker]), context);
    if (eventTicker !== '' && !this.#events.has(eventTicker)) {
      throw new PlatformError('kalshi', 'unavailable', { detail: `event ${eventTicker} cannot be read` });
    }
    return this.#event(eventTicker)?.row.series_ticker ?? '';
  }

  #event(ticker: string): ParsedRow<KalshiEvent> | null {
    const event = this.#events.get(ticker);
    return event === undefined || event === 'unknown' ? null : event;
  }

  #keepEvents(rows: readonly unknown[], context: ReadContext): void {
    for (const { row, raw } of parseRows(KalshiEvent, rows, EVENT_ROW, context)) {
      const { markets: _, ...event } = raw;
      this.#events.set(row.event_ticker, { row, raw: event });
    }
  }

  /** Events that Kalshi does not have become 'unknown'; those that cannot be read stay missing. */
  async #needEvents(tickers: Set<string>, context: ReadContext): Promise<void> {
    const missing = this.#missing(tickers);
    await this.#eventReader.readAll(missing, context);
    // The list may omit it.
    if (tickers.size !== 1) return;
    await this.#singleEventReader.readAll(
      missing.filter((ticker) => this.#events.get(ticker) === 'unknown'),
      context,
    );
  }

  #missing(tickers: Set<string>): string[] {
    return [...tickers].filter((ticker) => ticker !== '' && !this.#events.has(ticker));
  }

  async #readEvents(tickers: readonly string[], context: ReadContext): Promise<string[]> {
    await this.#refreshEvents({ tickers: tickers.join(',') }, context);
    for (const ticker of tickers) if (!this.#events.has(ticker)) this.#events.set(ticker, 'unknown');
    return [...tickers];
  }

  async #readEvent(ticker: string, context: ReadContext): Promise<void> {
    const path = `/events/${encodeURIComponent(ticker)}`;
    const reply = await this.#client.get(path, NESTED, context).catch(nullIfStatedAbsent);
    if (reply) this.#keepEvents([parseBody('kalshi', z.object({ event: z.unknown() }), reply).event], context);
    else this.#events.set(ticker, 'unknown');
  }

  async #needSeries(tickers: Set<string>, context: ReadContext): Promise<void> {
    const missing = [...tickers].filter((ticker) => ticker !== '' && !this.#series.has(ticker));
    if (missing.length > SINGLE_SERIES_READS && !this.#allSeriesRead) {
      await this.listSeries(null, context);
    }
    await this.#seriesReader.readAll(
      missing.filter((ticker) => !this.#series.has(ticker)),
      context,
    );
  }

  async #readSeries(ticker: string, context: ReadContext): Promise<void> {
    const path = `/series/${encodeURIComponent(ticker)}`;
    const reply = await this.#client.get(path, {}, context).catch(nullIfStatedAbsent);
    const { series } = reply ? parseBody('kalshi', z.object({ series: z.unknown() }), reply) : {};
    const parsed = series === undefined ? null : parseRow(KalshiSeries, series, SERIES_ROW, context);
    this.#series.set(ticker, parsed ?? 'unknown');
  }
}
