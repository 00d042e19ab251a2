import { Book } from './book.ts';
import { Column } from './column.ts';
import type { Grid } from './grid.ts';
import type { Print } from './tape.ts';
import { DAY_US, NO_ASK, NO_BID } from './units.ts';

export type MarketStatus =
  'initialized' | 'inactive' | 'active' | 'closed' | 'determined' | 'disputed' | 'amended' | 'finalized';
export type MarketResult = '' | 'yes' | 'no' | 'scalar';

/** What a market is born with and keeps. */
export interface MarketSpec {
  ticker: string;
  eventTicker: string;
  createdUs: number;
  openMs: number;
  closeMs: number;
  grid: Grid;
  exchangeIndex: number;
  provisional: boolean;
  /** Fields that never change, in wire form; keys without a value are absent. */
  fixed: Record<string, unknown>;
  /** What reality has in store, and how long after the close it is known and paid out. */
  plan: { result: 'yes' | 'no' | 'scalar'; value: number; expirationValue: string; lagMs: number; timerMs: number };
}

/** What one trader holds in one market. */
export interface Holding {
  /** 0.01 contracts; negative is NO. */
  position: number;
  /** 0.000001 dollars received minus paid, fees left out; netted pairs have been paid out. */
  cash: number;
}

/** One market with its whole past: prints, quotes and who holds what. */
export class SimMarket {
  readonly index: number;
  readonly spec: MarketSpec;
  status: MarketStatus = 'initialized';
  result: MarketResult = '';
  /** Payout of one YES in 0.0001 dollars, once determined. */
  value: number | null = null;
  expirationValue = '';
  determinedMs: number | null = null;
  settledUs: number | null = null;
  openMs: number;
  closeMs: number;
  updatedUs: number;
  /** A provisional market that nobody traded before it closed: the platform forgets it. */
  vanished = false;

  /** Positions in the tape, and per print what held right after it. */
  readonly prints = new Column();
  readonly #times = new Column();
  readonly #volumes = new Column();
  readonly #openInterests = new Column();
  readonly #lastPrices = new Column();

  readonly quoteTimes = new Column();
  readonly quoteBids = new Column();
  readonly quoteAsks = new Column();

  readonly holdings = new Map<number, Holding>();
  book: Book | null = null;

  constructor(index: number, spec: MarketSpec) {
    this.index = index;
    this.spec = spec;
    this.openMs = spec.openMs;
    this.closeMs = spec.closeMs;
    this.updatedUs = spec.createdUs;
  }

  get ticker(): string {
    return this.spec.ticker;
  }

  /** Appends a print that the tape already holds at `position`. */
  record(position: number, print: Print): void {
    const yesCost = print.yesPrice * print.count;
    const direction = print.takerYes ? 1 : -1;
    const change =
      this.#move(print.taker, direction * print.count, -direction * yesCost) +
      this.#move(print.maker, -direction * print.count, direction * yesCost);
    this.#openInterests.push(this.openInterest + change);
    this.prints.push(position);
    this.#times.push(print.timeUs);
    this.#volumes.push(this.volume + print.count);
    this.#lastPrices.push(print.block ? this.lastPrice : print.yesPrice);
  }

  /** Moves a trader's position and returns the change of YES contracts held. */
  #move(trader: number, count: number, cash: number): number {
    let holding = this.holdings.get(trader);
    if (!holding) this.holdings.set(trader, (holding = { position: 0, cash: 0 }));
    const before = Math.max(holding.position, 0);
    holding.position += count;
    holding.cash += cash;
    return Math.max(holding.position, 0) - before;
  }

  /** Notes the best bid and ask from now on; NO_BID and NO_ASK where a side is empty. */
  quote(timeUs: number, bid: number, ask: number): void {
    if (this.quoteTimes.length > 0 && bid === this.bid && ask === this.ask) return;
    this.quoteTimes.push(timeUs);
    this.quoteBids.push(bid);
    this.quoteAsks.push(ask);
  }

  get bid(): number {
    return this.quoteBids.last(NO_BID);
  }

  get ask(): number {
    return this.quoteAsks.last(NO_ASK);
  }

  /** All contracts ever traded. */
  get volume(): number {
    return this.#volumes.last(0);
  }

  get openInterest(): number {
    return this.#openInterests.last(0);
  }

  /** Yes price of the newest print on the book; 0 = never traded. */
  get lastPrice(): number {
    return this.#lastPrices.last(0);
  }

  /** 0 = never. */
  get lastPrintUs(): number {
    return this.#times.last(0);
  }

  /** Number of prints with time ≤ timeUs. */
  printsUpTo(timeUs: number): number {
    return this.#times.countUpTo(timeUs);
  }

  /** State after the first `prints` prints. */
  volumeAfter(prints: number): number {
    return prints === 0 ? 0 : this.#volumes.at(prints - 1);
  }

  openInterestAfter(prints: number): number {
    return prints === 0 ? 0 : this.#openInterests.at(prints - 1);
  }

  lastPriceAfter(prints: number): number {
    return prints === 0 ? 0 : this.#lastPrices.at(prints - 1);
  }

  /** Contracts traded in the 24 hours up to nowUs. */
  volume24h(nowUs: number): number {
    return this.volume - this.volumeAfter(this.printsUpTo(nowUs - DAY_US));
  }

  /** Index of the quote in force at timeUs; −1 before the first. */
  quoteIndexAt(timeUs: number): number {
    return this.quoteTimes.countUpTo(timeUs) - 1;
  }
}
