import type { Rows } from '../../lib/index.ts';
import type { Book } from './book.ts';

/** The native objects of the world: what a test reads to know the truth. Prices ×10^10, shares and USD ×10^6, times Unix ms. */

export interface SimTag {
  id: string;
  label: string;
  slug: string;
  /** Absent on young tags, as on the platform. */
  forceShow?: boolean;
  forceHide?: boolean;
  publishedMs: number | null;
}

export interface SimSeries {
  id: string;
  slug: string;
  title: string;
  recurrence: string;
}

export interface SimSport {
  id: number;
  sport: string;
  name: string;
  /** Comma list, as on the wire. */
  tags: string;
  series: string;
}

export interface SimEvent {
  id: string;
  slug: string;
  title: string;
  description: string;
  resolutionSource: string;
  tags: SimTag[];
  series: SimSeries | null;
  sport: SimSport | null;
  teams: string[];
  gameId: number | null;
  createdMs: number;
  endMs: number;
  startTimeMs: number | null;
  negRisk: boolean;
  /** Placeholders may be named later. */
  negRiskAugmented: boolean;
  negRiskMarketId: string;
  archived: boolean;
  markets: SimMarket[];
}

/** A fee of `rate × (p(1−p))^exponent` per share, taker only. */
export interface SimFee {
  /** Hundredths of a percent: 500 = 0.05. */
  rateBps: number;
  exponent: number;
  rebateBps: number;
  type: string;
}

export type SimState = 'unopened' | 'open' | 'paused' | 'closed' | 'resolved';

/** A row from before the order book: other keys, its own category, volumes as they stood. */
export interface SimLegacy {
  category: string;
  /** Which row prints the category; the event's only tag is All. */
  categoryOf: 'market' | 'event';
  marketType: 'normal' | 'scalar';
  bounds: [string, string] | null;
  /** USD. */
  volume: bigint;
  /** What the oracle reported a share of each outcome to pay; null where nobody knows any more. */
  reported: bigint[] | null;
}

export interface SimMarket {
  /** Grows in the order of creation; the number trades refer to. */
  readonly index: number;
  readonly id: string;
  /** v2: positions instead of tokens, on Exchange V3. */
  version: 'v1' | 'v2';
  /** '' on a very old market. Of Protocol V2 in the 64 digits of CLOB and Data API; Gamma leaves the last two out. */
  conditionId: string;
  questionId: string;
  slug: string;
  question: string;
  description: string;
  outcomes: string[];
  /** What the CLOB has books for, one per outcome: CTF tokens, or positions of Protocol V2; [] where there never were any. */
  tokenIds: string[];
  /** As Gamma lists them: on every market of Protocol V2, and on some of v1, for which the CLOB has no such books. */
  positionIds: string[] | null;
  readonly event: SimEvent;
  /** Smallest price step, and smallest resting order. */
  tick: bigint;
  minSize: bigint;
  fee: SimFee | null;
  negRiskOther: boolean;
  groupItemTitle: string | null;
  createdMs: number;
  /** When orders are (or will be) taken; null = never said. */
  acceptingFromMs: number | null;
  endMs: number;
  updatedMs: number;
  /** Start of the window an Up/Down market asks about. */
  eventStartMs: number | null;
  gameStartMs: number | null;
  sportsMarketType: string | null;
  line: string | null;
  /** Seconds a marketable order waits before it is matched. */
  secondsDelay: number;
  /** A marketable order is held a quarter of a second before it is matched. */
  takerDelay: boolean;
  legacy: SimLegacy | null;
  archived: boolean;
  state: SimState;
  /** Closes and resolves by the clock at endMs. */
  autoClose: boolean;
  /** The house quotes it but never trades it. */
  quiet: boolean;
  closedMs: number | null;
  resolvedMs: number | null;
  /** What a share of each outcome pays; set when resolved. */
  payouts: bigint[] | null;
  /** The outcome that the oracle would pay before its result is final; the row then prints it as if it were paid. */
  answer: number | null;
  /** UMA states passed so far; the last one is the current one. */
  uma: string[];
  /** false: the row never names a UMA state, not even when resolved. */
  showsUma: boolean;
  /** true: acceptingOrders stays true after closing. */
  acceptingWhenClosed: boolean;
  /** Midpoint of the first outcome before the first trade. */
  openMid: bigint;
  /** Best house quotes in ticks of the first outcome; 0 = no bid, 1/tick = no ask. */
  bidTick: number;
  askTick: number;
  /**
   * Its trades, oldest first. Columns: Unix seconds; index in the tape; Σ notional up to it; first outcome's midpoint after it;
   * first outcome's price of its last fill; its form.
   */
  trades: Rows;
  /** Σ notional of taker rows. */
  volume: bigint;
  /** Complete sets outstanding, in shares; 1 USD each. */
  sets: bigint;
  /** Built when first looked at; null when closed. */
  book: Book | null;
  /** Quotes as they stood at closing; the row keeps printing them. */
  frozen: { bid: bigint | null; ask: bigint | null } | null;
}

export interface SimWallet {
  readonly index: number;
  /** Lower case; the proxy wallet where there is one. */
  address: string;
  name: string;
  pseudonym: string;
  bio: string;
  profileImage: string;
  displayUsernamePublic: boolean;
}

/** What a wallet holds of a bet on several markets. */
export interface SimCombo {
  of: SimWallet;
  size: bigint;
}

export type OutcomeIndex = 0 | 1;
export type WireSide = 'BUY' | 'SELL';

/** One maker's part of a trade, in terms of the maker's own token. */
export interface SimFill {
  wallet: SimWallet;
  outcome: OutcomeIndex;
  side: WireSide;
  price: bigint;
  size: bigint;
}

/** One taker order matched in one transaction. */
export interface SimTrade {
  /** Position in the tape; also the order of the feed. */
  index: number;
  timestamp: number;
  market: SimMarket;
  wallet: SimWallet;
  outcome: OutcomeIndex;
  side: WireSide;
  /** Size-weighted over the fills, half-even to 10 decimals. */
  price: bigint;
  size: bigint;
  /** price × size, half-even to 6 decimals. */
  notional: bigint;
  transactionHash: string;
  /** First-outcome midpoint after the trade. */
  midAfter: bigint;
  /** When the Data API shows it. */
  visibleMs: number;
  fills: SimFill[];
}

/** Anything but a trade in a wallet's history. */
export interface SimActivity {
  timestamp: number;
  wallet: SimWallet;
  type: 'SPLIT' | 'MERGE' | 'REDEEM' | 'REWARD';
  market: SimMarket | null;
  /** Shares of each outcome, first to last, that it adds (or takes). */
  shares: [bigint, bigint];
  usdc: bigint;
  transactionHash: string;
}

export const isClosed = (market: SimMarket): boolean => market.state === 'closed' || market.state === 'resolved';
/** The condition id as Gamma spells it. */
export const gammaCondition = ({ version, conditionId }: SimMarket): string =>
  version === 'v2' ? conditionId.slice(0, -2) : conditionId;
/** Has an order book on the CLOB. */
export const hasBook = (market: SimMarket): boolean => market.legacy === null && market.tokenIds.length === 2;
export const outcomeName = (market: SimMarket, outcome: OutcomeIndex): string => market.outcomes[outcome] ?? '';
