import { z } from 'zod';
import { wirePrice, wireSize, wireText as text, wireUsd } from '../parse-rows.ts';
import { address, conditionId, cursor, flag, id, optional, type Page, rows, tokenId } from './wire-fields.ts';

/** Rows and pages of the Gamma API. */

/** A list that Gamma sends as JSON inside a string (`"[\"Yes\", \"No\"]"`), sometimes as a list, or omits. */
const texts = z
  .union([z.array(z.string()), z.string()])
  .nullish()
  .transform((value, context): string[] => {
    if (typeof value !== 'string') return value ?? [];
    try {
      return value === '' ? [] : z.array(z.string()).parse(JSON.parse(value));
    } catch {
      context.addIssue({ code: 'custom', message: 'expected a JSON list of strings' });
      return z.NEVER;
    }
  });

/** The valid entries: an invalid one does not invalidate its market or event. */
const list = <T>(entry: z.ZodType<T>) =>
  z
    .array(z.unknown())
    .nullish()
    .transform((entries) =>
      (entries ?? []).flatMap((one): T[] => {
        const read = entry.safeParse(one);
        return read.success ? [read.data] : [];
      }),
    );

const gammaTag = z.object({ slug: text, label: text, forceHide: flag });

/** Gamma event: the parent of one or more markets. On a market row it comes without tags. */
export const gammaEvent = z.object({
  id,
  slug: text,
  title: text,
  category: text,
  resolutionSource: text,
  updatedAt: text,
  tags: list(gammaTag),
  series: list(z.object({ id, slug: text, title: text, recurrence: text })),
  image: text,
  icon: text,
  negRisk: flag,
  /** Ids, '' for unreadable ones; [] if the row lists no markets. */
  markets: z
    .array(z.object({ id }).catch({ id: '' }))
    .nullish()
    .catch(null)
    .transform((value) => value ?? []),
  sport: z
    .object({ name: text })
    .nullish()
    .transform((value) => value ?? null),
});
export type GammaEvent = z.output<typeof gammaEvent>;

/** Gamma market. `outcomes[i]`, `outcomePrices[i]` and `clobTokenIds[i]` (or `positionIds[i]`) belong to one outcome. */
export const gammaMarket = z.object({
  id,
  question: z.string().min(1),
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
  outcomes: texts.refine((names) => names.length >= 2, 'expected two outcomes or more'),
  outcomePrices: texts.transform((prices) => prices as unknown[]).pipe(z.array(wirePrice)),
  clobTokenIds: texts.pipe(z.array(z.union([z.literal(''), tokenId]))),
  positionIds: texts.pipe(z.array(z.union([z.literal(''), tokenId]))),
  active: flag,
  closed: z.boolean(),
  enableOrderBook: flag,
  acceptingOrders: flag,
  acceptingOrdersTimestamp: text,
  startDate: text,
  endDate: text,
  closedTime: text,
  umaEndDate: text,
  createdAt: text,
  umaResolutionStatus: text,
  /** inactive, active or resolved; on markets of protocol version 2, which have no UMA state. */
  resolutionStatus: text,
  marketType: text,
  version: text,
  volume: optional(wireUsd),
  volumeNum: optional(wireUsd),
  volume24hr: optional(wireUsd),
  volume1wk: optional(wireUsd),
  volume1mo: optional(wireUsd),
  volume1yr: optional(wireUsd),
  liquidity: optional(wireUsd),
  liquidityNum: optional(wireUsd),
  liquidityClob: optional(wireUsd),
  lastTradePrice: optional(wirePrice),
  bestBid: optional(wirePrice),
  bestAsk: optional(wirePrice),
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
  feesEnabled: flag,
  feeSchedule: z
    .object({
      exponent: z.number().nullish(),
      rate: z.number().nullish(),
      takerOnly: z.boolean().nullish(),
      rebateRate: z.number().nullish(),
    })
    .nullish()
    .transform((value) => Object.fromEntries(Object.entries(value ?? {}).filter(([, member]) => member != null))),
  tags: list(gammaTag),
  events: list(gammaEvent),
});
export type GammaMarket = z.output<typeof gammaMarket>;

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
