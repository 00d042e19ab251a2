import { crc32 } from 'node:zlib';
import { BookChangeEvent, WholeBookEvent } from '../../src/schemas/stream-events.ts';
import type { ServedBook } from '../oracle/book.ts';

type Message = Record<string, unknown>;
type Sides = Record<'bid' | 'ask', Map<number, number>>;

/** A book as a client keeps it, held to its schema, its sequence and its checksum. */
export class ClientBook {
  readonly sides: Sides = { bid: new Map(), ask: new Map() };
  sequence = 0;
  readonly faults: string[] = [];

  take(name: string, data: Message): void {
    const known = name === 'book' ? WholeBookEvent.strict().safeParse(data) : BookChangeEvent.strict().safeParse(data);
    if (!known.success) this.faults.push(known.error.message);
    if (data['sequence'] !== this.sequence + 1) this.faults.push(`${this.sequence} → ${String(data['sequence'])}`);
    this.sequence = Number(data['sequence']);
    if (name === 'book') {
      const { bids, asks } = (data as unknown as ServedBook).yes;
      this.sides.bid = new Map(bids.map(({ price, size }) => [price, size]));
      this.sides.ask = new Map(asks.map(({ price, size }) => [price, size]));
    } else {
      for (const { side, price, size } of data['changes'] as { side: 'bid' | 'ask'; price: number; size: number }[]) {
        if (size === 0) this.sides[side].delete(price);
        else this.sides[side].set(price, size);
      }
    }
    if (crc32(this.text()) !== data['checksum']) this.faults.push(`checksum of ${this.text()}`);
  }

  /** Best first. */
  levels(side: 'bid' | 'ask'): { price: number; size: number }[] {
    const sign = side === 'bid' ? -1 : 1;
    const found = Array.from(this.sides[side], ([price, size]) => ({ price, size }));
    return found.toSorted((a, b) => sign * (a.price - b.price));
  }

  /** What its checksum is of. */
  text(): string {
    const text = (side: 'bid' | 'ask') =>
      this.levels(side)
        .slice(0, 10)
        .map(({ price, size }) => `${price}:${size}`)
        .join(',');
    return `${text('bid')}|${text('ask')}`;
  }
}
