import type { Relation } from '../core/model.ts';
import { RULES_VERSION, type Facts, type MarketFacts, type MarketTexts, type Reason, type Verdict } from './facts.ts';
import { centralBankFacts } from './kinds/central-bank.ts';
import { competitionFacts } from './kinds/competition.ts';
import { awardFacts, electionFacts } from './kinds/contests.ts';
import { gameFacts } from './kinds/game.ts';
import { actFacts, countFacts, mentionFacts, weatherFacts } from './kinds/happenings.ts';
import { priceFacts, upOrDownFacts } from './kinds/price.ts';
import { releaseFacts } from './kinds/release.ts';
import { relate } from './relate.ts';
import { isDisguised, plainRules, plainTitle } from './text.ts';

/** Readers of facts, the most particular first: the first that recognises a market has its facts, or leaves it 'open'. */
const READERS: readonly ((market: MarketTexts) => Facts | 'open' | null)[] = [
  upOrDownFacts,
  centralBankFacts,
  releaseFacts,
  priceFacts,
  gameFacts,
  weatherFacts,
  mentionFacts,
  awardFacts,
  electionFacts,
  countFacts,
  competitionFacts,
  actFacts,
];

/** Times outside of 2000 to 2199 are placeholders of platforms. */
const FIRST_MS = Date.UTC(2000, 0);
const LAST_MS = Date.UTC(2200, 0);
const likelyMs = (ms: number | null): number | null => (ms !== null && ms >= FIRST_MS && ms < LAST_MS ? ms : null);

function cleaned(market: MarketTexts): MarketTexts {
  return {
    ...market,
    id: plainTitle(market.id),
    eventId: plainTitle(market.eventId),
    seriesId: plainTitle(market.seriesId),
    slug: plainTitle(market.slug),
    category: plainTitle(market.category),
    title: plainTitle(market.title),
    outcomeName: market.outcomeName === null ? null : plainTitle(market.outcomeName),
    outcomes: market.outcomes.slice(0, 8).map(plainTitle),
    rules: plainRules(market.rules),
    resolutionSource: plainTitle(market.resolutionSource),
    eventTitle: plainTitle(market.eventTitle),
    startsAtMs: likelyMs(market.startsAtMs),
    endsAtMs: likelyMs(market.endsAtMs),
  };
}

/** "Will it not reach 100?" asks the opposite of what its words name; "not more than" is a comparator. */
const NEGATED =
  /\b(?:not|never|cannot)\b(?! (?:(?:more|less|fewer|lower|higher|greater) than|above|over|below|exceed))|n't\b/i;

/** "A and B or C": which two belong together is not said. "2 or more" joins nothing. */
const OR =
  'or (?!(?:more|less|fewer|higher|lower|greater|equal|exactly|above|below|over|under|hotter|colder|warmer|cooler|before|after|earlier|later)\\b)';
const MIXED_LIST = new RegExp(`\\band\\b.*\\b${OR}|\\b${OR}.*\\band\\b`, 'i');

/** The outcome that plays No: where it comes first, or the market is named after it, Yes and No have changed places. */
const SECOND = /^(?:no|under|down|not .{1,60})$/i;
const isTurned = ({ outcomes, outcomeName, title }: MarketTexts): boolean =>
  [outcomes[0], outcomeName, title.split(': ').at(-1)?.replace(/\?$/, '')].some((name) => SECOND.test(name ?? ''));

/** The facts of a market; null if no kind recognises it, or its title is disguised, a negation or open to two readings. */
export function factsOf(market: MarketTexts): MarketFacts | null {
  const clean = cleaned(market);
  if (NEGATED.test(clean.title) || MIXED_LIST.test(clean.title) || isTurned(clean)) return null;
  if (isDisguised(clean.title) && !clean.title.includes('___')) return null;
  for (const read of READERS) {
    const facts = read(clean);
    if (facts === 'open') return null;
    if (facts) return { ...facts, slug: clean.slug, copyOf: clean.copyOf };
  }
  return null;
}

/** Compares the verdict with a platform's statement that one market copies the other. The statement never decides. */
function statedCopy(a: MarketFacts, b: MarketFacts, relation: Relation): Reason[] {
  const isStated = (a.copyOf !== '' && a.copyOf === b.slug) || (b.copyOf !== '' && b.copyOf === a.slug);
  if (!isStated) return [];
  const verdict = relation === 'unknown' ? 'missing' : relation === 'identical' ? 'same' : 'differs';
  return [{ field: 'stated_copy', a: a.copyOf || a.slug, b: b.copyOf || b.slug, verdict }];
}

const MAPPINGS: Partial<Record<Relation, Verdict['mapping']>> = {
  identical: [
    [0, 0],
    [1, 1],
  ],
  complement: [
    [0, 1],
    [1, 0],
  ],
};

/** Pairs of outcome positions that pay together. */
export const mappingOf = (relation: Relation): Verdict['mapping'] => MAPPINGS[relation] ?? [];

/** How the questions of two markets relate. A market without facts is related to nothing. */
export function judge(a: MarketFacts | null, b: MarketFacts | null): Verdict {
  if (!a || !b) return { relation: 'unknown', kind: null, mapping: [], reasons: [], version: RULES_VERSION };
  const { relation, reasons } = relate(a, b);
  return {
    relation,
    kind: a.kind,
    mapping: mappingOf(relation),
    reasons: [...reasons, ...statedCopy(a, b, relation)],
    version: RULES_VERSION,
  };
}
