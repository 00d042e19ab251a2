import { z } from 'zod';
import {
  wireFlag as flag,
  wireOptional as optional,
  wirePrice,
  wireSize,
  wireText as text,
  wireTime as time,
  wireUsd,
  wireVolume,
} from '../parse-rows.ts';
import { address, conditionId, cursor, figure, id, type Page, rows, tokenId, unitPrice } from './wire-fields.ts';

/** Rows and pages of the Gamma API. */

/** A list that Gamma sends as JSON inside a string (`"[\"Yes\", \"No\"]"`), sometimes as a list, or omits. */
const listOf = <T extends z.ZodType>(entry: T) =>
  z
    .union([z.array(z.unknown()), z.string()])
    .nullish()
    .transform((value, context): unknown => {
      if (typeof value !== 'string') return value ?? [];
      try {
        return value === '' ? [] : (JSON.parse(value) ?? []);
      } catch {
        context.addIssue({ code: 'custom', message: 'expected a JSON list of strings' });
        return z.NEVER;
      }
    })
    .pipe(z.array(entry));

/** Objects of a row, [] if it has none. */
const objects = <T extends z.ZodType>(entry: T) =>
  z
    .array(entry)
    .nullish()
    .transform((entries) => entries ?? []);

const gammaTag = z.object({ slug: text, label: text, forceHide: flag });

/** Gamma event: the parent of one or more markets. On a market row it comes without tags. */
export const gammaEvent = z.object({
  id,
  slug: text,
  title: text,
  category: text,
  resolutionSource: text,
  updatedAt: text,
  tags: objects(gammaTag),
  series: objects(z.object({ id, slug: text, title: text, recurrence: text })),
  image: text,
  icon: text,
  negRisk: flag,
  /** Start of the game, or of the window that an up/down market asks about. */
  startTime: time,
  /** Only up/down events have it: the price that decides, and the price at the end. */
  eventMetadata: z
    .object({ priceToBeat: optional(figure), finalPrice: optional(figure) })
    .nullish()
    .transform((value) => value ?? { priceToBeat: null, finalPrice: null }),
  /** Ids and names, '' for unreadable ones; [] if the row lists no markets. */
  markets: objects(
    z
      .object({ id, question: text.catch(''), groupItemTitle: text.catch('') })
      .catch({ id: '', question: '', groupItemTitle: '' }),
  ),
  sport: z
    .object({ name: text })
    .nullish()
    .transform((value) => value ?? null),
});
export type GammaEvent = z.output<typeof gammaEvent>;
/** An event's row without one of these fields is left out. */
export const EVENT_ROW = { platform: 'polymarket', kind: 'event', idKey: 'id', essential: ['id'] } as const;

/** The unparsed markets of an event's row. */
export const nestedMarkets = z.object({ markets: rows }).transform(({ markets }) => markets);

/** Gamma market. `outcomes[i]`, `outcomePrices[i]` and `clobTokenIds[i]` (or `positionIds[i]`) belong to one outcome. */
export const gammaMarket = z.object({
  id,
  question: z.union([z.string().min(1), z.number().transform(String)]),
  conditionId: z
    .union([z.literal(''), conditionId])
    .nullish()
    .transform((value) => value ?? ''),
  slug: text,
  description: text,
  category: text,
  resolutionSource: text,
  image: text,
  icon: text,
  outcomes: listOf(z.union([z.string(), z.number().transform(String)])).refine(
    (names) => names.length >= 2,
    'expected two outcomes or more',
  ),
  outcomePrices: listOf(unitPrice),
  clobTokenIds: listOf(z.union([z.literal(''), tokenId])),
  positionIds: listOf(z.union([z.literal(''), tokenId])),
  active: flag,
  closed: flag,
  enableOrderBook: flag,
  acceptingOrders: flag,
  acceptingOrdersTimestamp: time,
  startDate: time,
  endDate: time,
  closedTime: time,
  umaEndDate: time,
  createdAt: time,
  gameStartTime: time,
  eventStartTime: time,
  /** Seconds that a marketable order waits during a game. */
  secondsDelay: optional(figure.refine((seconds) => seconds >= 0, 'below 0')),
  umaResolutionStatus: text,
  /** inactive, active or resolved; on markets of protocol version 2, which have no UMA state. */
  resolutionStatus: text,
  marketType: text,
  version: text,
  volume: optional(wireVolume),
  volumeNum: optional(wireVolume),
  volume24hr: optional(wireVolume),
  volume1wk: optional(wireVolume),
  volume1mo: optional(wireVolume),
  volume1yr: optional(wireVolume),
  liquidity: optional(wireVolume),
  liquidityNum: optional(wireVolume),
  liquidityClob: optional(wireVolume),
  lastTradePrice: optional(unitPrice),
  bestBid: optional(unitPrice),
  bestAsk: optional(unitPrice),
  oneDayPriceChange: optional(wirePrice),
  oneWeekPriceChange: optional(wirePrice),
  competitive: optional(wirePrice),
  orderPriceMinTickSize: optional(wirePrice),
  orderMinSize: optional(wireSize),
  rewardsMinSize: optional(wireSize),
  groupItemTitle: text,
  groupItemThreshold: text,
  line: optional(wireUsd),
  lowerBound: optional(wireUsd),
  upperBound: optional(wireUsd),
  negRisk: flag,
  negRiskMarketID: text,
  /** A placeholder for outcomes that the event does not list, which the site hides. */
  negRiskOther: flag,
  feesEnabled: flag,
  feeSchedule: z
    .object({
      exponent: optional(figure),
      rate: optional(figure),
      takerOnly: flag,
      rebateRate: optional(figure),
    })
    .nullish()
    .transform((value) => Object.fromEntries(Object.entries(value ?? {}).filter(([, member]) => member != null))),
  tags: objects(gammaTag),
  events: objects(gammaEvent),
});
export type GammaMarket = z.output<typeof gammaMarket>;
/** A market's row without one of these fields is left out: its trades use the condition as the market's name. */
export const MARKET_ROW = {
  platform: 'polymarket',
  kind: 'market',
  idKey: 'id',
  essential: ['id', 'question', 'conditionId', 'outcomes'],
} as const;

/** The profiles of Gamma's `/public-search`; some are null, and the list is absent if none are found. */
export const profiles = z
  .object({ profiles: z.array(z.object({ name: text, proxyWallet: text }).nullable()).nullish() })
  .transform(({ profiles }) =>
    (profiles ?? []).flatMap((profile) => {
      const wallet = address.safeParse(profile?.proxyWallet);
      return profile && wallet.success ? [{ name: profile.name, proxyWallet: wallet.data }] : [];
    }),
  );

export const eventPage = z
  .object({ events: rows, next_cursor: cursor })
  .transform(({ events, next_cursor }): Page => ({ rows: events, next: next_cursor }));
export const marketPage = z
  .object({ markets: rows, next_cursor: cursor })
  .transform(({ markets, next_cursor }): Page => ({ rows: markets, next: next_cursor }));
