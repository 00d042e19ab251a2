import { z } from 'zod';
import { wirePrice, wireSize, wireUsd } from '../../../../src/platforms/parse-rows.ts';

/** Rows of the fourth platform, as its simulator sends them. */
export const FourthMarket = z.object({
  slug: z.string().min(1),
  question: z.string(),
  state: z.enum(['trading', 'ended']),
  topic: z.string(),
  price: wirePrice.nullable(),
  bid: wirePrice.nullable(),
  ask: wirePrice.nullable(),
  volume_usd: wireUsd,
  opened_at: z.iso.datetime(),
  ends_at: z.iso.datetime(),
});
export type FourthMarket = z.infer<typeof FourthMarket>;

export const FourthMarkets = z.object({ items: z.array(z.unknown()) });

export const FourthTrade = z.object({
  id: z.string().min(1),
  slug: z.string().min(1),
  side: z.enum(['buy', 'sell']),
  price: wirePrice,
  shares: wireSize,
  at: z.iso.datetime({ precision: 6 }),
});
export type FourthTrade = z.infer<typeof FourthTrade>;

const level = z.tuple([wirePrice, wireSize]);
export const FourthBook = z.object({ bids: z.array(level), asks: z.array(level) });
export type FourthBook = z.infer<typeof FourthBook>;
