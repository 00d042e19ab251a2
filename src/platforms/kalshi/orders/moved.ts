import { z } from 'zod';
import { PlatformError } from '../../../core/errors.ts';
import type { KalshiAccount } from '../signed-client.ts';
import type { KalshiNewOrder } from './request.ts';

const Shard = z.object({ market: z.object({ exchange_index: z.int().nonnegative().nullish() }) });

/** Whether Kalshi refused an order because its market is on another exchange shard: nothing was placed. */
const isOfShard = (error: unknown): error is PlatformError =>
  error instanceof PlatformError &&
  error.body != null &&
  error.status >= 400 &&
  error.status < 500 &&
  /exchange.?index|shard/i.test(error.detail);

/**
 * The order addressed to the shard that its market is on now, read from Kalshi; null if `error` is about something else, or if the
 * market has not moved.
 */
export async function movedOrder(
  error: unknown,
  wire: KalshiNewOrder,
  member: KalshiAccount,
): Promise<KalshiNewOrder | null> {
  if (!isOfShard(error)) return null;
  const path = `/markets/${encodeURIComponent(wire.ticker)}`;
  const reply = await member.get(path, {}).catch(() => null);
  const read = Shard.safeParse(reply?.json);
  if (!read.success) return null;
  const exchange_index = read.data.market.exchange_index ?? 0;
  return exchange_index === wire.exchange_index ? null : { ...wire, exchange_index };
}
