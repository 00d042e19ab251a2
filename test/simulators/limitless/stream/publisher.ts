import type { ClobMarket, Group, Market, Outcome } from '../model.ts';
import { bookBody, decimal, iso } from '../rows.ts';
import type { LimitlessWorld } from '../world.ts';

/** A payload of orderbookUpdate. */
export interface BookUpdate {
  marketSlug: string;
  orderbook: object;
  version: number;
  timestamp: string;
}

interface Published {
  revision: number;
  update: BookUpdate;
}

/** The whole book without the last trade; limits are numbers here and texts over REST. */
function streamedBook(market: ClobMarket): object {
  const { lastTradePrice: _last, ...book } = bookBody(market);
  return { ...book, maxSpread: decimal(BigInt(market.rewardMaxSpread), 3), minSize: Number(market.rewardMinSize) };
}

/** What the venue publishes: coalesced books under one counter for all markets, and the beginnings and ends of markets. */
export class Publisher {
  readonly #world: LimitlessWorld;
  readonly #published = new WeakMap<ClobMarket, Published>();
  readonly #created = new WeakSet<Market | Group>();
  readonly #resolved = new WeakSet<Market>();
  #version = 7_861_372;
  #lifecycle = -1;

  constructor(world: LimitlessWorld) {
    this.#world = world;
    this.lifecycle();
  }

  /** The book as it was published last; published anew when it has changed since. */
  book(market: ClobMarket): BookUpdate {
    const known = this.#published.get(market);
    const { revision } = market.book;
    if (known?.revision === revision) return known.update;
    this.#version += 1;
    const update = {
      marketSlug: market.slug,
      orderbook: streamedBook(market),
      version: this.#version,
      timestamp: iso(this.#world.clock.now()),
    };
    this.#published.set(market, { revision, update });
    return update;
  }

  /** What came to be listed and what was resolved since the last call. Children of a group are not announced, the group is. */
  lifecycle(): { created: object[]; resolved: { market: Market; payload: object }[] } {
    const { revision } = this.#world.lifecycle;
    if (revision === this.#lifecycle) return { created: [], resolved: [] };
    this.#lifecycle = revision;
    const created: object[] = [];
    const resolved: { market: Market; payload: object }[] = [];
    for (const market of this.#world.markets.values()) {
      const group = market.kind === 'clob' ? market.group : null;
      const key = group ?? market;
      if (market.status === 'FUNDED' && !market.hidden && !this.#created.has(key)) {
        this.#created.add(key);
        created.push(createdPayload(market));
      }
      const { decidedAt, winningOutcome } = market;
      if (decidedAt !== null && !this.#resolved.has(market)) {
        this.#resolved.add(market);
        // What a market that pays both halves would announce is not known.
        if (winningOutcome !== null)
          resolved.push({ market, payload: resolvedPayload(market, winningOutcome, decidedAt) });
      }
    }
    return { created, resolved };
  }
}

function createdPayload(market: Market) {
  const group = market.kind === 'clob' ? market.group : null;
  return {
    slug: group?.slug ?? market.slug,
    title: group?.title ?? market.title,
    type: market.kind === 'amm' ? 'AMM' : 'CLOB',
    ...(group ? { groupSlug: group.slug } : {}),
    categoryIds: [2],
    createdAt: iso(group?.createdAt ?? market.createdAt),
  };
}

/** It may be sent long before REST says RESOLVED. */
const resolvedPayload = (market: Market, winner: Outcome, decidedAt: number) => ({
  slug: market.slug,
  type: market.kind === 'amm' ? 'AMM' : 'CLOB',
  winningOutcome: winner === 0 ? 'YES' : 'NO',
  winningIndex: winner,
  resolutionDate: iso(decidedAt),
});
