import type { StoredMarket } from '../../src/platforms/contract.ts';

/** Spreads markets over connections of at most `size`; a market stays where it is while it is wanted. */
export class Shards {
  readonly #size: number;
  readonly #shards: Map<string, StoredMarket>[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** The markets of each connection, and whether they are others than before. */
  set(wanted: readonly StoredMarket[]): { markets: StoredMarket[]; hasChanged: boolean }[] {
    const open = new Map(wanted.map((market) => [market.ref, market]));
    const changed = new Set<number>();
    for (const [index, shard] of this.#shards.entries()) {
      for (const ref of shard.keys()) {
        if (open.delete(ref)) continue;
        shard.delete(ref);
        changed.add(index);
      }
    }
    for (const [ref, market] of open) {
      let index = this.#shards.findIndex((shard) => shard.size < this.#size);
      if (index === -1) index = this.#shards.push(new Map()) - 1;
      this.#shards[index]?.set(ref, market);
      changed.add(index);
    }
    // What is empty at the end is no connection any more; in between it is filled first.
    while (this.#shards.length > 0 && this.#shards.at(-1)?.size === 0) this.#shards.pop();
    return this.#shards.map((shard, index) => ({ markets: [...shard.values()], hasChanged: changed.has(index) }));
  }
}
