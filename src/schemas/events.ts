import { z } from 'zod';
import {
  answerMeta,
  freshnessField,
  MarketAnswer,
  MATCHES,
  numberOrNull,
  Pagination,
  platformField,
  platformsField,
  timeOrNull,
} from './markets.ts';
import { WalletAnswer } from './wallets.ts';
import { VOLUME_UNIT } from './volume-unit.ts';

const sum = (what: string) => numberOrNull.describe(`${what}; null when it is not known for every market`);
const known = (field: string) =>
  numberOrNull.describe(`Σ ${field} over its markets with a known amount, USD; null if no amount is known`);

/** Sums in USD over the markets of an event or a category; `of` is the field with the number of its markets. */
export const usdSums = (of: string) => ({
  volume_24h_usd: known('volume_24h_usd'),
  volume_7d_usd: known('volume_7d_usd'),
  volume_total_usd: known('volume_total_usd'),
  liquidity_usd: known('liquidity_usd'),
  usd_markets: z
    .object({
      volume_24h: z.int().describe('Summed in volume_24h_usd'),
      volume_7d: z.int().describe('Summed in volume_7d_usd'),
      volume_total: z.int().describe('Summed in volume_total_usd'),
      liquidity: z.int().describe('Summed in liquidity_usd'),
    })
    .describe(`Number of its markets whose amount is known, of ${of}`),
});

const categoryField = z.string().describe("Vocabulary shared by all platforms; '' if the platform has none");

export const EventAnswer = z
  .object({
    id: z.string().describe('Unified id: <platform>:<event_id>'),
    platform: platformField,
    event_id: z
      .string()
      .describe("The platform's id: Kalshi event ticker, Polymarket event id, Limitless slug of a group"),
    series_id: z.string().describe("The platform's id of its series; '' if there is none"),
    title: z.string().describe('As worded by the platform'),
    category: categoryField,
    tags: z.array(z.string()).describe("The platform's own tags"),
    status: z
      .string()
      .describe(
        'open when at least one market is open; else paused, unopened or closed when at least one market is, in this order; settled when all are',
      ),
    markets_count: z.int().describe('Number of its markets'),
    open_markets: z.int().describe('Number of these that are open'),
    volume_24h: sum(`Σ over its markets: ${VOLUME_UNIT}`),
    volume_total: sum(`Σ over its markets: ${VOLUME_UNIT}`),
    ...usdSums('markets_count'),
    liquidity: sum('Σ over its markets, USD of collateral in resting orders'),
    mutually_exclusive: z
      .boolean()
      .nullable()
      .describe(
        'true when at most one of its markets can pay: maybe none, where the event can end otherwise; null if not reported',
      ),
    trading_end_at: timeOrNull('When trading ends in the last of its markets', 'when it is not known for every market'),
    image_url: z.string().describe("URL; '' if there is none"),
    source_url: z.string().describe("Page of the event on its platform; '' if there is none"),
    market_ids: z.array(z.string()).describe("The platform's ids of its markets, in the platform's order"),
  })
  .meta({ id: 'Event', description: 'An event with sums over its markets, all of one instant' });

export const ListedEventAnswer = EventAnswer.extend({
  leading_markets: z
    .array(z.string())
    .optional()
    .describe(
      "With `leaders`: the platform's ids of its markets whose first outcome has the highest price, the highest first. Settled markets take part, placeholders and combinations do not",
    ),
}).meta({ id: 'ListedEvent', description: 'An event of a list' });

/** `meta` of lists of stored rows, and of one of them. */
export const listMeta = answerMeta({ platforms_queried: platformsField, data_freshness: freshnessField });

export const EventsAnswer = z
  .object({
    pagination: Pagination,
    events: z.array(ListedEventAnswer).describe('In the requested order'),
    meta: listMeta,
  })
  .meta({ id: 'EventList' });

export const OneEventAnswer = z
  .object({
    event: EventAnswer,
    markets: z
      .array(MarketAnswer)
      .describe("In the platform's order; [] with include_markets=false. The event's sums are sums of these"),
    meta: listMeta,
  })
  .meta({ id: 'EventWithMarkets' });

export const SeriesAnswer = z
  .object({
    id: z.string().describe('Unified id: <platform>:<series_id>'),
    platform: platformField,
    series_id: z
      .string()
      .describe("The platform's id: Kalshi series ticker, Polymarket series id, Limitless stable slug"),
    title: z.string().describe("As worded by the platform; '' if the platform has none"),
    category: categoryField,
    frequency: z
      .string()
      .nullable()
      .describe(
        'How often it recurs, as worded by the platform (five_min, 5m, 4h, hourly, daily, weekly, custom …), or the period that its slug ends with (4h of btc-up-or-down-4h); null if unknown',
      ),
    events_count: z.int().describe('Number of its events; 0 if markets recur without events (Limitless)'),
    open_events: z.int().describe('Number of these with an open market'),
  })
  .meta({ id: 'Series', description: 'Events or markets that recur' });

export const SeriesListAnswer = z
  .object({
    pagination: Pagination,
    series: z.array(SeriesAnswer).describe('By series_id'),
    meta: listMeta,
  })
  .meta({ id: 'SeriesList' });

const found = <const T extends string>(type: T) => ({
  type: z.literal(type).describe('What was found'),
  id: z.string().describe('Unified id; of a wallet its address'),
  title: z.string().describe('What to show first'),
  subtitle: z
    .string()
    .describe("What to show beside it: the event or the outcome of a market, the category; '' if there is none"),
  match: z
    .enum(MATCHES)
    .nullable()
    .describe('How it was found, as in GET markets; null unless a search is sorted by match'),
});

/** One row of a search. */
export const SearchResult = z
  .discriminatedUnion('type', [
    z.object({ ...found('market'), platform: platformField, market: MarketAnswer }),
    z.object({ ...found('event'), platform: platformField, event: ListedEventAnswer }),
    z.object({ ...found('series'), platform: platformField, series: SeriesAnswer }),
    z.object({
      ...found('wallet'),
      platform: z.null().describe('Always null: an address is the same on every platform'),
      wallet: WalletAnswer.shape.wallet,
    }),
  ])
  .meta({ id: 'SearchResult', description: 'A market, an event, a series or a wallet' });

export const SearchAnswer = z
  .object({
    results: z.array(SearchResult).describe('Best match first, then the most traded in USD; or in the requested order'),
    pagination: Pagination,
    meta: listMeta,
  })
  .meta({ id: 'SearchResults' });
