import type { StoredMarket } from '../../src/platforms/contract.ts';

/** Distributes markets over connections of at most `size` markets; a wanted market keeps its connection. */
export class Shards {
  readonly #size: number;
  readonly #shards: Map<string, StoredMarket>[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** The markets of each connection, and whether they have changed. */
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
    // Empty shards at the end are removed; those in between are filled first.
    while (this.#shards.length > 0 && this.#shards.at(-1)?.size === 0) this.#shards.pop();
    return this.#shards.map((shard, index) => ({ markets: [...shard.values()], hasChanged: changed.has(index) }));
  }
}
