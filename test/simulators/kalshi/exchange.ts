import { createRng, type Rng } from '../lib/index.ts';
import type { SimClock } from '../simulator.ts';
import type { AccountFill, AccountOrder } from './account.ts';
import type { EventSpec } from './catalogue.ts';
import type { Leg } from './kind.ts';
import { SimMarket, type MarketSpec } from './market.ts';
import { ALL_SERIES } from './series.ts';
import type { UpdateReason } from './stream/own-frames.ts';
import { Tape, type Print } from './tape.ts';
import { createTraders, type Trader } from './traders.ts';

export interface SimEvent {
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

/** Everything the platform knows; the HTTP side reads it, lifecycle and matching change it. */
export class Exchange {
  readonly clock: SimClock;
  readonly seed: number;
  readonly rng: Rng;
  readonly tape: Tape;
  readonly series = ALL_SERIES;
  readonly events: SimEvent[] = [];
  readonly eventByTicker = new Map<string, SimEvent>();
  /** In the order of creation; `SimMarket.index` is the place here. */
  readonly markets: SimMarket[] = [];
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
    const event: SimEvent = { spec: made.event, markets: [], updatedUs: made.event.createdUs };
    this.events.push(event);
    this.eventByTicker.set(made.event.ticker, event);
    for (const spec of made.markets) {
      const market = new SimMarket(this.markets.length, spec);
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
    return position;
  }

  /** Settled before the cutoff: only the historical endpoints know it. */
  isArchived(market: SimMarket): boolean {
    return market.settledUs !== null && market.settledUs < this.cutoff.marketSettledMs * 1000;
  }
}
