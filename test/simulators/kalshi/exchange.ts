import { createRng, KEPT_AFTER_END_MS, Queue, type Rng } from '../lib/index.ts';
import type { SimClock } from '../simulator.ts';
import type { AccountFill, AccountOrder } from './account.ts';
import type { EventSpec } from './catalogue.ts';
import type { Leg } from './kind.ts';
import { SimMarket, type MarketSpec } from './market.ts';
import { ALL_SERIES, type SeriesSpec } from './series.ts';
import type { UpdateReason } from './stream/own-frames.ts';
import { Tape, type Print } from './tape.ts';
import { createTraders, type Trader } from './traders.ts';
import { pnl } from './truth.ts';

export interface SimEvent {
  /** Grows in the order of creation. */
  index: number;
  spec: EventSpec;
  markets: SimMarket[];
  updatedUs: number;
}

/** What GET /exchange/status reports; `down` answers everything with 503. */
export interface ExchangeStatus {
  exchangeActive: boolean;
  tradingActive: boolean;
  resumeMs: number | null;
  down: boolean;
}

/** What is announced of a market: the keys of a frame of market_lifecycle_v2 beside its ticker, in their order. */
export interface Announcement {
  market: SimMarket;
  event_type:
    | 'created'
    | 'activated'
    | 'deactivated'
    | 'close_date_updated'
    | 'determined'
    | 'settled'
    | 'metadata_updated'
    | 'price_level_structure_updated';
  /** Times in Unix seconds. */
  fields: Record<string, unknown>;
}

/** What is left of forgotten trades and markets. */
export interface Forgotten {
  seriesVolume: Map<SeriesSpec, number>;
  /** By `Trader.index`; pnl and markets of forgotten markets, volume of forgotten trades. */
  traders: Map<number, { volume: number; markets: number; pnl: number }>;
}

/** Everything the platform knows; the HTTP side reads it, lifecycle and matching change it. */
export class Exchange {
  readonly clock: SimClock;
  readonly seed: number;
  readonly rng: Rng;
  readonly tape: Tape;
  readonly series = ALL_SERIES;
  readonly events: SimEvent[] = [];
  readonly eventByTicker = new Map<string, SimEvent>();
  /** In the order of creation. */
  readonly markets: SimMarket[] = [];
  readonly #marketByIndex = new Map<number, SimMarket>();
  readonly #eventByIndex = new Map<number, SimEvent>();
  /** Markets and events there ever were. */
  readonly born = { markets: 0, events: 0 };
  /** Markets that the world brought forth by itself, oldest first. */
  readonly passing = new Queue<SimMarket>();
  readonly forgotten: Forgotten = { seriesVolume: new Map(), traders: new Map() };
  readonly marketByTicker = new Map<string, SimMarket>();
  /** The crowd first, then the accounts. */
  readonly traders: Trader[];
  readonly crowdSize: number;
  /** Below these instants the live endpoints are silent, Unix ms. */
  readonly cutoff: { marketSettledMs: number; tradesCreatedMs: number; ordersUpdatedMs: number; positionsMs: number };
  readonly status: ExchangeStatus = { exchangeActive: true, tradingActive: true, resumeMs: null, down: false };
  /** When the next market changes its status by the clock, Unix ms; 0 = look now. */
  nextChangeMs = 0;
  /** What the order desk listens to: time passing, a market that stops trading, a market that is paid out. */
  onTick: () => void = () => {};
  onClose: (market: SimMarket) => void = () => {};
  onSettle: (market: SimMarket) => void = () => {};
  /** What the sockets listen to: a print, before its maker's order gets smaller; a book that may have changed; an announcement. */
  onPrint: (position: number) => void = () => {};
  onBook: (market: SimMarket, timeUs: number) => void = () => {};
  onAnnounce: (announced: Announcement) => void = () => {};
  /** What a member's own channels tell: a fill, and an order after each change. */
  onFill: (fill: AccountFill) => void = () => {};
  onOrder: (order: AccountOrder, reason?: UpdateReason) => void = () => {};
  /** Prints show on the public tape only this long after they were made. */
  tapeDelayMs = 0;
  #keptTrades = Infinity;
  #lastStampUs = 0;

  constructor(options: { clock: SimClock; seed: number; cutoffMs: number }) {
    this.clock = options.clock;
    this.seed = options.seed;
    this.rng = createRng(options.seed);
    this.tape = new Tape(options.seed);
    this.traders = createTraders(this.rng.fork('traders'), this.clock.now());
    this.crowdSize = this.traders.length;
    const ms = options.cutoffMs;
    this.cutoff = { marketSettledMs: ms, tradesCreatedMs: ms, ordersUpdatedMs: ms, positionsMs: ms };
  }

  get nowMs(): number {
    return Math.floor(this.clock.now());
  }

  get nowUs(): number {
    return this.nowMs * 1000;
  }

  /** A time for something that happens now: never before anything that happened, never past this millisecond. */
  stampUs(): number {
    const stamp = Math.max(this.#lastStampUs, this.tape.timeUs.last(0), this.nowUs + this.rng.int(0, 999));
    this.#lastStampUs = stamp;
    return stamp;
  }

  addEvent(made: { event: EventSpec; markets: MarketSpec[] }): SimEvent {
    const index = this.born.events++;
    const event: SimEvent = { index, spec: made.event, markets: [], updatedUs: made.event.createdUs };
    this.#eventByIndex.set(index, event);
    this.events.push(event);
    this.eventByTicker.set(made.event.ticker, event);
    for (const spec of made.markets) {
      const market = new SimMarket(this.born.markets++, spec);
      this.#marketByIndex.set(market.index, market);
      this.markets.push(market);
      this.marketByTicker.set(spec.ticker, market);
      event.markets.push(market);
    }
    this.nextChangeMs = 0;
    return event;
  }

  /** What a combo of this status can be made of. */
  legs(status: 'active' | 'finalized'): Leg[] {
    return this.markets
      .filter((market) => market.status === status && !this.eventOf(market).spec.combo)
      .map(({ spec }) => ({
        eventTicker: spec.eventTicker,
        ticker: spec.ticker,
        name: String(spec.fixed.yes_sub_title),
        wins: spec.plan.result === 'yes',
      }));
  }

  eventOf(market: SimMarket): SimEvent {
    return this.eventByTicker.get(market.spec.eventTicker) as SimEvent;
  }

  /** Puts a print on the tape and into its market; returns its place on the tape. */
  print(market: SimMarket, print: Print): number {
    const position = this.tape.append(market.index, print);
    market.record(position, print);
    this.onPrint(position);
    while (this.tape.rows.fresh > this.#keptTrades) this.#forgetTrade();
    return position;
  }

  /** The market of a trade that is kept. */
  marketOf(position: number): SimMarket {
    return this.#marketByIndex.get(this.tape.market.at(position)) as SimMarket;
  }

  /** Undefined for a forgotten one. */
  marketAt(index: number): SimMarket | undefined {
    return this.#marketByIndex.get(index);
  }

  eventAt(index: number): SimEvent | undefined {
    return this.#eventByIndex.get(index);
  }

  /** The past so far stays whole; of later trades so many are kept. */
  settle(keptTrades: number): void {
    this.#keptTrades = keptTrades;
    this.tape.rows.settle();
    for (const market of this.markets) market.settle();
  }

  #forgetTrade(): void {
    const { tape } = this;
    const position = tape.rows.firstFresh;
    for (const trader of [tape.maker, tape.taker]) this.#leftOf(trader.at(position)).volume += tape.count.at(position);
    this.marketOf(position).forgetPrint();
    tape.rows.forget();
  }

  /** Forgets markets of the world's own that are over and have no trade that is kept; one that a member trades stays. */
  forgetMarkets(): void {
    for (let market = this.passing.first; market && this.#isPast(market); market = this.passing.first) {
      this.passing.shift();
      if ([...market.holdings.keys()].every((trader) => trader < this.crowdSize)) this.#forgetMarket(market);
    }
  }

  #isPast({ status, vanished, closeMs, course }: SimMarket): boolean {
    return (status === 'finalized' || vanished) && closeMs + KEPT_AFTER_END_MS < this.nowMs && course.fresh === 0;
  }

  #forgetMarket(market: SimMarket): void {
    const event = this.eventOf(market);
    const { seriesVolume } = this.forgotten;
    const { series } = event.spec;
    seriesVolume.set(series, (seriesVolume.get(series) ?? 0) + market.volume);
    for (const [trader, holding] of market.holdings) {
      const left = this.#leftOf(trader);
      left.markets += 1;
      left.pnl += pnl(market, holding);
    }
    this.markets.splice(this.markets.indexOf(market), 1);
    this.#marketByIndex.delete(market.index);
    this.marketByTicker.delete(market.ticker);
    event.markets.splice(event.markets.indexOf(market), 1);
    if (event.markets.length > 0) return;
    this.events.splice(this.events.indexOf(event), 1);
    this.#eventByIndex.delete(event.index);
    this.eventByTicker.delete(event.spec.ticker);
  }

  #leftOf(trader: number): { volume: number; markets: number; pnl: number } {
    const { traders } = this.forgotten;
    const left = traders.get(trader) ?? { volume: 0, markets: 0, pnl: 0 };
    traders.set(trader, left);
    return left;
  }

  /** Settled before the cutoff: only the historical endpoints know it. */
  isArchived(market: SimMarket): boolean {
    return market.settledUs !== null && market.settledUs < this.cutoff.marketSettledMs * 1000;
  }
}
