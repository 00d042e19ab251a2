import { z } from 'zod';
import { adjustedMidpoint } from '../wire.ts';
import { isTradePrice, wireAllLevels, wireLevelUnits, wirePrice } from '../../parse-rows.ts';

/** Payloads of Limitless' events, reduced to the fields that are used. */

const timeMs = z.iso.datetime().transform((text) => Date.parse(text));
const level = z.object({
  price: wirePrice.refine(isTradePrice, 'expected a price of 0 to 1'),
  size: wireLevelUnits,
});

const levels = wireAllLevels(level);

/** Whose book a frame has. */
export const bookName = z.object({ marketSlug: z.string() });

/** A whole book in Yes terms. Versions grow with time across all markets; 0 = an older copy from the database. */
export const bookUpdate = bookName.extend({
  orderbook: z.object({ bids: levels, asks: levels, adjustedMidpoint }),
  version: z.number().int().min(0),
  timestamp: timeMs,
});
export type BookUpdate = z.output<typeof bookUpdate>;

/** Confirms a subscription; `markets` if it lists any. */
export const systemMessage = z.object({
  message: z.string(),
  markets: z.array(z.string()).optional().catch(undefined),
});

export const createdMessage = z.object({ slug: z.string().min(1), groupSlug: z.string().nullish().catch(null) });

export const resolvedMessage = z.object({ slug: z.string().min(1), resolutionDate: z.string().catch('') });
