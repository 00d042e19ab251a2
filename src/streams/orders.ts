import { changeOf, ORDER_CHANGES, type OrderChange } from '../core/order-model.ts';
import type { Shared } from '../stores/shared/shared.ts';
import type { StreamFilter } from './filter.ts';
import type { EventSink } from './sink.ts';

type Listener = (change: OrderChange) => void;

/** Watches the platforms for changes of a user's orders until the returned function is called. */
export type FollowOrders = (userId: string) => () => void;

/** Changes of orders, passed on to the streams of their owners only. */
export class OrderFollower {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #follow: FollowOrders;

  constructor(follow: FollowOrders) {
    this.#follow = follow;
  }

  async listen(shared: Pick<Shared, 'subscribe'>): Promise<void> {
    await shared.subscribe(ORDER_CHANGES, (message) => {
      if (this.#listeners.size === 0) return;
      const change = changeOf(message);
      for (const listener of this.#listeners.get(change.userId) ?? []) listener(change);
    });
  }

  /** Calls back with changes of the user's orders until the returned function is called. */
  watch(userId: string, listener: Listener): () => void {
    const known = this.#listeners.get(userId) ?? new Set();
    this.#listeners.set(userId, known.add(listener));
    const unfollow = this.#follow(userId);
    return () => {
      if (!known.delete(listener)) return;
      unfollow();
      if (known.size === 0 && this.#listeners.get(userId) === known) this.#listeners.delete(userId);
    };
  }
}

/** Sends the changes of the user's orders that a subscription asks for. All are sent: a reader that is too slow is disconnected. */
export function sendOrders(
  follower: OrderFollower,
  userId: string,
  { channels, platforms, markets }: StreamFilter,
  sink: EventSink,
): () => void {
  if (!channels.includes('orders')) return () => {};
  return follower.watch(userId, ({ platform, ref, data }) => {
    if (!platforms.includes(platform) || (markets !== null && !markets.get(platform)?.has(ref))) return;
    sink.event('order', data);
    sink.flush();
  });
}
