import { z } from 'zod';
import { Cache } from '../../../core/cache.ts';
import { PlatformError } from '../../../core/errors.ts';
import type { StoredMarket } from '../../contract.ts';
import type { KalshiAccount } from '../signed-client.ts';
import type { KalshiNewOrder } from './request.ts';

const MARKETS_KEPT = 1000;

const Shard = z.object({ market: z.object({ exchange_index: z.int().nonnegative().nullish() }) });

/** Whether Kalshi refused an order because its market is on another exchange shard. */
const isOfShard = (error: unknown): boolean =>
  error instanceof PlatformError &&
  error.body != null &&
  error.status >= 400 &&
  error.status < 500 &&
  /exchange.?index|shard/i.test(error.detail);

const storedShard = ({ metadata: { exchange_index: index } }: StoredMarket): number =>
  typeof index === 'number' ? index : 0;

/** The exchange shards of markets. A market may have moved since it was stored: a refused order shows it to the next one. */
export class Shards {
  readonly #moved = new Cache<string, { from: number; to: number }>({ limit: MARKETS_KEPT });

  /** The shard that an order for the market is sent to. */
  of(market: StoredMarket): number {
    const stored = storedShard(market);
    const moved = this.#moved.get(market.ref);
    return moved?.from === stored ? moved.to : stored;
  }

  /** Reads the shard of the market after a refusal that concerns it. The refused order is not sent again. */
  async learn(error: unknown, market: StoredMarket, { ticker }: KalshiNewOrder, member: KalshiAccount): Promise<void> {
    if (!isOfShard(error)) return;
    const reply = await member.get(`/markets/${encodeURIComponent(ticker)}`, {}).catch(() => null);
    const read = Shard.safeParse(reply?.json);
    if (!read.success) return;
    this.#moved.set(market.ref, { from: storedShard(market), to: read.data.market.exchange_index ?? 0 });
  }
}
