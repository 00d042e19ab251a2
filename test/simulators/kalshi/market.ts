import { keptStates, Rows } from '../lib/index.ts';
import { Book } from './book.ts';
import type { Grid } from './grid.ts';
import type { Print } from './tape.ts';
import { DAY_US, MINUTE_US, NO_ASK, NO_BID } from './units.ts';

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

/** One market with its past: prints, quotes and who holds what. */
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

  /** Each print with its position in the tape, and what held right after it. */
  readonly course = new Rows(6, keptStates(MINUTE_US));
  readonly prints = this.course.column(1);
  readonly #volumes = this.course.column(2);
  readonly #openInterests = this.course.column(3);
  readonly #lastPrices = this.course.column(4);
  readonly #counts = this.course.column(5);

  readonly quotes = new Rows(3, keptStates(MINUTE_US));
  readonly quoteTimes = this.quotes.column(0);
  readonly quoteBids = this.quotes.column(1);
  readonly quoteAsks = this.quotes.column(2);

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
    const lastPrice = print.block ? this.lastPrice : print.yesPrice;
    const { timeUs, count } = print;
    this.course.push(timeUs, position, this.volume + count, this.openInterest + change, lastPrice, count);
  }

  /** What there is stays. */
  settle(): void {
    this.course.settle();
    this.quotes.settle();
  }

  /** Forgets its oldest print since `settle`, and the quotes that were over by then. */
  forgetPrint(): void {
    this.course.forget();
    const { to } = this.course.forgotten as { to: number };
    const { quotes } = this;
    while (quotes.fresh > 1 && quotes.cell(quotes.firstFresh + 1, 0) <= to) quotes.forget();
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
    this.quotes.push(timeUs, bid, ask);
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
    return this.course.last(0, 0);
  }

  /** Contracts of the newest print; 0 = never traded. */
  get lastCount(): number {
    return this.#counts.last(0);
  }

  /** Number of prints with time ≤ timeUs; among forgotten ones, of those of which something is left. */
  printsUpTo(timeUs: number): number {
    return this.course.countUpTo(timeUs);
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
    return this.quotes.countUpTo(timeUs) - 1;
  }
}
