import type { Relation } from '../core/model.ts';
import type { FIELD_VERDICTS } from '../schemas/matches.ts';
import type { Range } from './range.ts';
import type { Window } from './dates.ts';

/** Changes whenever a rule changes a verdict; stored beside each verdict. */
export const RULES_VERSION = 9;

/** What a market's platform says of it, as far as the judge reads it. Unknown texts are '', unknown times null. */
export interface MarketTexts {
  platform: string;
  /** The platform's id: a ticker, an id or a slug. */
  id: string;
  title: string;
  /** Which market of its event it is; null without such a name. */
  outcomeName: string | null;
  /** The names of its outcomes, in the platform's order; the first plays Yes. */
  outcomes: readonly string[];
  rules: string;
  resolutionSource: string;
  eventId: string;
  eventTitle: string;
  seriesId: string;
  slug: string;
  category: string;
  /** The range that its record states, where it has one of a known type. */
  strike: Range | null;
  /** The slug of the market that its platform says it copies; '' without such a statement. */
  copyOf: string;
  /** Start of the game or of the price window, ms. */
  startsAtMs: number | null;
  /** End by the platform's own record, ms; may lie long after the event. */
  endsAtMs: number | null;
}

const KINDS = [
  'game',
  'price',
  'up_or_down',
  'central_bank',
  'release',
  'election',
  'competition',
  'award',
  'weather',
  'mention',
  'count',
  'act',
] as const;
export type Kind = (typeof KINDS)[number];

/** A value, and the words of the market that say so. */
export interface Fact {
  value: string;
  quote: string;
}

/** What must be true for Yes, given the topic. */
export type Claim =
  /** One name wins what only one can win. */
  | { type: 'choice'; name: string }
  /** One name gets at least so far: a lower rank includes the higher ones. */
  | { type: 'stage'; name: string; rank: number }
  /** A quantity lies in a range. */
  | { type: 'range'; range: Range }
  /** A region of the results of one game. */
  | { type: 'game'; line: GameLine; sides: readonly [string, string]; drawn: boolean }
  /** It happens, within the window. */
  | { type: 'act' };

/** A line of a game in terms of its two sides, 0 and 1. */
export type GameLine =
  | { on: 'winner'; side: 0 | 1 }
  | { on: 'draw' }
  | { on: 'margin'; side: 0 | 1; over: number }
  | { on: 'total'; over: number; under?: true }
  | { on: 'side_total'; side: 0 | 1; over: number; under?: true }
  | { on: 'both_score' }
  | { on: 'score'; score: readonly [number, number] }
  /** A figure of one player; the metric of the topic says which. */
  | { on: 'player'; player: string; over: number }
  | { on: 'other'; words: string };

/** The facts of one market. Fields of `topic` must agree, or the markets ask about different things. */
export interface Facts {
  kind: Kind;
  topic: Readonly<Record<string, Fact>>;
  claim: Fact & { of: Claim };
  /** Null where the kind has no window, or the market does not say it. */
  window: (Window & { quote: string }) | null;
  /** Who says what the value is; null if the market does not. */
  source: Fact | null;
  /** Clauses that matter in rare cases alone: ties, cancellation. */
  tails: readonly Fact[];
}

/** The facts of a market, and the names by which platforms say that one copies the other. */
export interface MarketFacts extends Facts {
  slug: string;
  copyOf: string;
}

/** One field of both markets beside each other. */
export interface Reason {
  field: string;
  a: string;
  b: string;
  verdict: (typeof FIELD_VERDICTS)[number];
}

export interface Verdict {
  relation: Relation;
  kind: Kind | null;
  /** Pairs of outcome positions that pay together; [] unless identical or complement. */
  mapping: readonly (readonly [number, number])[];
  reasons: readonly Reason[];
  version: number;
}
