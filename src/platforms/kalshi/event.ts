import type { EventRecord, SeriesRecord } from '../../core/model.ts';
import { canonicalCategory, categorySlug } from '../categories.ts';
import { kebab } from '../market-fields.ts';
import type { KalshiEvent, KalshiSeries } from './wire.ts';

/** The event's own category, else its series', in the shared vocabulary if that has it. */
export function kalshiCategory(event: KalshiEvent | null, series: KalshiSeries | null): string {
  const named = event?.category || series?.category || series?.categories?.[0] || '';
  return canonicalCategory([kebab(named)])?.name ?? named;
}

/** The page of an event; Kalshi's home page if its series is unknown. */
export const kalshiPage = (eventId: string, seriesId: string): string =>
  seriesId ? `https://kalshi.com/markets/${seriesId.toLowerCase()}/${eventId.toLowerCase()}` : 'https://kalshi.com';

/** An event without its image, which another route returns. */
export function mapKalshiEvent(event: KalshiEvent, series: KalshiSeries | null): EventRecord {
  const category = kalshiCategory(event, series);
  return {
    platform: 'kalshi',
    eventId: event.event_ticker,
    seriesId: event.series_ticker,
    slug: '',
    title: event.title,
    category,
    categorySlug: categorySlug(category),
    tags: series?.tags ?? [],
    mutuallyExclusive: event.mutually_exclusive ?? null,
    imageUrl: '',
    sourceUrl: kalshiPage(event.event_ticker, event.series_ticker),
    marketIds: event.markets?.tickers ?? [],
  };
}

export function mapKalshiSeries(series: KalshiSeries): SeriesRecord {
  const category = kalshiCategory(null, series);
  return {
    platform: 'kalshi',
    seriesId: series.ticker,
    title: series.title,
    category,
    categorySlug: categorySlug(category),
    frequency: series.frequency || null,
  };
}
