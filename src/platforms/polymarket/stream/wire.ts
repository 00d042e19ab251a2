import { z } from 'zod';
import { conditionId, tokenId, unitPrice, wireSide } from '../wire-fields.ts';
import { wireAllLevels, wireLevelSize } from '../../parse-rows.ts';

/** Frames of Polymarket's sockets, reduced to the fields that are used. */

const time = z.coerce.number().int().positive();
/** An empty side is "0", "1" or ''. */
const best = z.union([z.literal('').transform(() => null), unitPrice]).nullish();
const level = z.object({ price: unitPrice, size: wireLevelSize });
const levels = wireAllLevels(level);

/** Whose book a frame, or a change in it, concerns, as far as that can be read. */
export const namedFrame = z
  .object({
    asset_id: tokenId.optional().catch(undefined),
    market: conditionId.optional().catch(undefined),
  })
  .catch({ asset_id: undefined, market: undefined });

export const bookFrame = z.object({
  asset_id: tokenId,
  timestamp: time,
  bids: levels,
  asks: levels,
});
export type BookFrame = z.output<typeof bookFrame>;

export const changeFrame = z.object({ timestamp: time, price_changes: z.array(z.unknown()) });
export const change = level.extend({
  asset_id: tokenId,
  side: wireSide,
  /** The hash of the book after the whole engine step that contains this change. */
  hash: z.string().catch(''),
  best_bid: best,
  best_ask: best,
});
export type Change = z.output<typeof change>;

export const bestFrame = z.object({ asset_id: tokenId, timestamp: time, best_bid: best, best_ask: best });

export const lastTradeFrame = z.object({ market: conditionId, asset_id: tokenId, price: unitPrice, timestamp: time });

/** A market that was listed, resolved, or got another tick size. */
export const lifecycleFrame = z
  .object({
    condition_id: conditionId.optional().catch(undefined),
    market: conditionId.optional().catch(undefined),
    new_tick_size: unitPrice.nullish().catch(null),
  })
  .transform(({ condition_id, market, new_tick_size: tickSize }, context) => {
    const id = condition_id ?? market;
    if (id !== undefined) return { id, tickSize: tickSize ?? null };
    context.addIssue({ code: 'custom', path: ['market'], message: 'names no market' });
    return z.NEVER;
  });

/** A frame of the live-data socket. */
export const activityFrame = z.object({
  topic: z.literal('activity'),
  type: z.enum(['orders_matched', 'trades']),
  payload: z.object({ conditionId }),
});
