import { type FeedStateDeps, FeedStates } from './feed-state.ts';
import { BookFollower, type BookFollowerDeps } from './books/books.ts';
import { Connections } from './connections.ts';
import { Hub, type HubDeps } from './hub.ts';
import { MatchGapFollower, type ReadGaps } from './match-gaps.ts';
import { type FollowOrders, OrderFollower } from './orders.ts';
import { QuoteFollower } from './quotes.ts';
import type { StreamDeps } from './sse-stream.ts';

/** All streams of this process. */
export interface Streams extends StreamDeps {
  /** Ends every stream; what is queued is sent first, within a bound. */
  stop(): Promise<void>;
}

export async function openStreams(
  deps: HubDeps & FeedStateDeps & BookFollowerDeps & { followOrders: FollowOrders; readGaps: ReadGaps },
): Promise<Streams> {
  const hub = new Hub(deps);
  const states = new FeedStates(deps);
  const connections = new Connections(deps.shared, deps.clock);
  const quotes = new QuoteFollower(deps);
  const books = new BookFollower(deps);
  const matchGaps = new MatchGapFollower(deps);
  const orders = new OrderFollower(deps.followOrders);
  await hub.open();
  await books.listen(deps.shared);
  await orders.listen(deps.shared);
  await quotes.listen(deps.shared);
  return {
    hub,
    states,
    connections,
    quotes,
    books,
    matchGaps,
    orders,
    async stop() {
      await connections.stop();
      states.close();
      quotes.close();
      books.close();
      matchGaps.close();
      hub.close();
    },
  };
}
