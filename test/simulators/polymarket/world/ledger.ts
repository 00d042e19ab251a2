import type { OutcomeIndex, SimMarket, SimTrade } from './model.ts';
import { Tape, type Form, type TapeEntry } from './tape.ts';

/** A maker's part before its token is chosen. Numbers are scaled integers: the first outcome's price ×10^10, size ×10^6. */
export interface Part {
  wallet: number;
  /** null: the house, which sells what it holds and mints otherwise. */
  form: Form | null;
  firstPrice: number;
  size: number;
}

const ONE = 1e10;

/** The tape together with what follows from it: who holds what, volume, complete sets. Nobody ever holds less than nothing. */
export class Ledger {
  readonly tape = new Tape();
  private readonly holdings = new Map<number, Map<number, [number, number]>>();

  /** Shares ×10^6. */
  held(wallet: number, market: SimMarket, outcome: OutcomeIndex): number {
    return this.holdings.get(market.index)?.get(wallet)?.[outcome] ?? 0;
  }

  /** Wallets that ever held anything of a market. */
  holders(market: SimMarket): ReadonlyMap<number, readonly [number, number]> {
    return this.holdings.get(market.index) ?? new Map();
  }

  add(wallet: number, market: SimMarket, outcome: OutcomeIndex, size: number): void {
    let byWallet = this.holdings.get(market.index);
    if (!byWallet) this.holdings.set(market.index, (byWallet = new Map()));
    let own = byWallet.get(wallet);
    if (!own) byWallet.set(wallet, (own = [0, 0]));
    own[outcome] += size;
    if (own[outcome] < 0) throw new RangeError(`wallet ${wallet} would hold ${own[outcome]} of market ${market.id}`);
  }

  /** The token a house wallet trades to lift (or press) the first outcome: it sells before it mints. */
  houseForm(wallet: number, market: SimMarket, lifts: boolean, size: number): Form {
    if (lifts) return this.held(wallet, market, 1) >= size ? 3 : 0;
    return this.held(wallet, market, 0) >= size ? 2 : 1;
  }

  /** Prints a trade of `entry.wallet` against the parts and moves the shares. */
  record(market: SimMarket, entry: Omit<TapeEntry, 'market'>, parts: readonly Part[]): void {
    const makerLifts = entry.form === 1 || entry.form === 2;
    for (const part of parts) {
      const form = part.form ?? this.houseForm(part.wallet, market, makerLifts, part.size);
      this.tape.fill(part.wallet, form, form & 1 ? ONE - part.firstPrice : part.firstPrice, part.size);
      this.move(part.wallet, market, form, part.size);
      // Two buyers mint complete sets, two sellers merge them.
      if ((form & 2) === (entry.form & 2)) market.sets += BigInt(form & 2 ? -part.size : part.size);
    }
    const { size, notional } = this.tape.commit({ ...entry, market: market.index });
    this.move(entry.wallet, market, entry.form, size);
    market.volume += BigInt(notional);
    const lastPart = parts.at(-1)?.firstPrice ?? 0;
    const { timestamp, midAfter, form } = entry;
    market.trades.push(timestamp, this.tape.count - 1, Number(market.volume), midAfter, lastPart, form);
    market.updatedMs = Math.max(market.updatedMs, entry.timestamp * 1000);
  }

  /** Forgets the oldest trade since the past was settled; who holds what stays. */
  forgetTrade(market: SimMarket): void {
    market.trades.forget();
    this.tape.forget();
  }

  forgetMarket(market: SimMarket): void {
    this.holdings.delete(market.index);
  }

  /** Gives the shares of a trade back, the sets that it minted or merged too; the tape keeps what it printed. */
  undo({ market, fills, ...taken }: SimTrade): void {
    for (const { wallet, outcome, side, size } of [taken, ...fills]) {
      this.add(wallet.index, market, outcome, Number(side === 'BUY' ? -size : size));
    }
    for (const { side, size } of fills) if (side === taken.side) market.sets -= side === 'BUY' ? size : -size;
  }

  private move(wallet: number, market: SimMarket, form: Form, size: number): void {
    this.add(wallet, market, (form & 1) as OutcomeIndex, form & 2 ? -size : size);
  }
}
