import type { MarketRecord } from '../../core/model.ts';
import type { ReadContext, SweepPage, SweepScope } from '../contract.ts';
import { recentRows } from '../parse-rows.ts';
import type { KalshiCatalog } from './catalog.ts';
import type { KalshiClient, KalshiQuery } from './client.ts';

/** Without the filter, combinations of other markets fill the list. */
const EVERY_PAGE = { limit: 1000, mve_filter: 'exclude' } as const;
/** The list takes one status at a time; open markets first, because their prices move. */
const LIVE_STATUSES = ['open', 'unopened', 'paused', 'closed', 'settled'] as const;

/** Kalshi's market lists, joined with events and series, page by page. */
export async function* kalshiSweep(
  client: KalshiClient,
  catalog: KalshiCatalog,
  now: () => number,
  scope: SweepScope,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  async function* list(query: KalshiQuery): AsyncGenerator<SweepPage> {
    for await (const page of client.pages('/markets', 'markets', { ...EVERY_PAGE, ...query }, context)) {
      yield { markets: await catalog.join(page.rows, page.receivedAt, context) };
    }
  }

  switch (scope.kind) {
    case 'full':
      yield { markets: [], series: await catalog.listSeries(null, context) };
      await catalog.listEvents(null, context);
      for (const status of LIVE_STATUSES) yield* list({ status });
      return;
    case 'open':
      yield* list({ status: 'open' });
      return;
    case 'changed': {
      const since = Math.floor(scope.sinceMs / 1000);
      const healed = await catalog.readLeftOut(context);
      yield { markets: [], series: await catalog.listSeries(since, context) };
      await catalog.listEvents(since, context);
      yield* list({ min_updated_ts: since });
      yield* list({ min_created_ts: since });
      yield* list({ min_close_ts: since, max_close_ts: Math.ceil(now() / 1000) });
      yield* list({ status: 'settled', min_settled_ts: since });
      for (const event_ticker of healed.events) yield* list({ event_ticker });
      for (const series_ticker of healed.series) yield* list({ series_ticker });
      return;
    }
    case 'historical':
      yield* archive(client, catalog, scope.sinceMs, context);
  }
}

/** Archived markets settled since a time. Their order is not documented: reading stops early only while they come newest first. */
async function* archive(
  client: KalshiClient,
  catalog: KalshiCatalog,
  sinceMs: number,
  context: ReadContext,
): AsyncGenerator<SweepPage> {
  let previousMs = Infinity;
  let newestFirst = true;
  const split = recentRows<MarketRecord>(({ state }) => state.resolvedAt, sinceMs);
  for await (const page of client.pages('/historical/markets', 'markets', EVERY_PAGE, context)) {
    const records = await catalog.join(page.rows, page.receivedAt, context);
    for (const { state } of records) {
      const settledMs = Date.parse(state.resolvedAt ?? '');
      newestFirst &&= !(settledMs > previousMs);
      if (!Number.isNaN(settledMs)) previousMs = settledMs;
    }
    const { recent, goesOn } = split(records, page.rows.length);
    yield { markets: recent };
    if (newestFirst && !goesOn) return;
  }
}
