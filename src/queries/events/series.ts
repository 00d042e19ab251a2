import { z } from 'zod';
import { unifiedId, type Platform } from '../../core/model.ts';
import type { PresentSeries } from '../../present/read.ts';
import type { SeriesAnswer } from '../../schemas/events.ts';
import type { ClickHouse } from '../../stores/clickhouse/client.ts';
import { searchTerms } from '../search-terms.ts';

const SeriesInfo = z.object({
  id: z.string(),
  title: z.string(),
  category: z.string(),
  frequency: z.string().nullable(),
});

/** A copied series as answers show it. */
export function seriesAnswer(
  platform: Platform,
  { info, events, openEvents }: PresentSeries,
): z.infer<typeof SeriesAnswer> {
  const { id, ...facts } = SeriesInfo.parse(JSON.parse(info));
  return {
    id: unifiedId(platform, id),
    platform,
    series_id: id,
    ...facts,
    events_count: events,
    open_events: openEvents,
  };
}

/** A row of sql/queries/series_list.sql. */
const SeriesRow = z.object({
  series_id: z.string(),
  title: z.string(),
  category: z.string(),
  frequency: z.string().nullable(),
  events_count: z.coerce.number(),
  open_events: z.coerce.number(),
  class: z.number(),
  total: z.coerce.number(),
});

/** Greater than the `fit` of any series: a page after it is the first one. */
export const MOST_FIT = 127;

interface SeriesFilter {
  platform: Platform;
  category: string;
  query: string | undefined;
  nowMs: number;
  /** The last series before the page, and how well it fits the search. */
  after: { after: string; fit: number };
  limit: number;
}

/** Series after another, by how well each fits the search, then by id; `total` is null on a page without rows. */
export async function seriesPage(
  clickhouse: Pick<ClickHouse, 'query'>,
  { platform, category, query, nowMs, after, limit }: SeriesFilter,
): Promise<{ series: z.infer<typeof SeriesAnswer>[]; fits: number[]; total: number | null }> {
  const terms = await searchTerms(clickhouse, { platform, kind: 'series' }, query, new Date(nowMs).toISOString());
  const params = {
    platform,
    category: category || undefined,
    ...terms,
    after: after.after,
    after_class: after.fit,
    limit,
  };
  const rows = await clickhouse.query('series_list', SeriesRow, params);
  return {
    total: rows[0]?.total ?? null,
    fits: rows.map((row) => row.class),
    series: rows.map((row) => ({
      id: unifiedId(platform, row.series_id),
      platform,
      series_id: row.series_id,
      title: row.title,
      category: row.category,
      frequency: row.frequency,
      events_count: row.events_count,
      open_events: row.open_events,
    })),
  };
}
