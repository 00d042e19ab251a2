import { dayOf } from './../core/time.ts';
import { addDays, datesIn, windowIn, type DateMention, type Window } from './dates.ts';
import type { MarketTexts } from './facts.ts';
import { rangeIn, type Range } from './range.ts';
import { withTokens } from './tables/competitions.ts';
import { decidingSentence, quote, sentences, statementOf, words } from './text.ts';

/** A market's question taken apart: who, what in plain words, how much, when. */
export interface Statement {
  text: string;
  rule: string;
  /** The name the market is about; null if its title is about none alone. */
  name: string | null;
  /** The other words, with phrases of the tables as one word each, sorted. */
  bag: ReadonlySet<string>;
  range: { range: Range; quote: string } | null;
  window: Window;
  /** The year of the season, election or ceremony; null if no text says it. */
  year: { value: string; quote: string; isWeak: boolean } | null;
}

/** Words without meaning where they stand alone. Comparators, "or", "before" and "each" decide: they stay unless a range or date takes them. */
const STOP = new Set(
  (
    'will would the a an to in at of on for by be is are was do does did with as their his her its this that who whom what which when where how there ' +
    'have has had having get gets than and between from during until till through successfully any time year s us it if recent officially per following'
  ).split(' '),
);

const VERB =
  '(?:win|wins|be|become|becomes|finish|advance|reach|qualify|make|have|get|gets|receive|receives|perform|meet|visit|defeat|beat|go|leave|resign|announce|say|sign|run|play|appear|join|host|release|lead|drop|control|be named|place|score|top|retire|pardon|nominate|remain|step|speak|attend|launch|come|acquire)';
const WHO = new RegExp(`^will (?:the )?(.{2,60}?) (?=${VERB}\\b)`, 'i');
const SUBJECT = /^(.{2,50}?) (?=(?:announced as|wins?|to win|named|confirmed as|out as|elected)\b)/i;
const RULE_SUBJECT =
  /^if (?:the )?(.{2,60}?) (?=(?:has won|have won|wins?|win|is|are|becomes?|receives?|gets?|finish(?:es)?|advances?|qualif(?:y|ies))\b)/i;
const ASKS = /^(?:who|which|what|how)\b|\?$|^\d{4} .*\?$/i;

/** "Group: Child" of one event: the child is the name, if it is no sentence itself. */
function childOf(text: string, eventTitle: string): { name: string; rest: string } | null {
  const match = /^(.{6,200}): ([^:]{1,60})$/.exec(text);
  const [, group = '', child = ''] = match ?? [];
  if (!match || new RegExp(`^will |\\b${VERB}\\b .*\\?$`, 'i').test(child) || child.split(' ').length > 7) return null;
  if (child.endsWith('?') && eventTitle !== '' && !eventTitle.startsWith(group)) return null;
  const name = child.replace(/\?$/, '');
  return { name, rest: ` ${group} `.replace(` ${name} `, ' ') };
}

function withoutGroup(title: string, eventTitle: string): string {
  if (eventTitle !== '' && title.startsWith(`${eventTitle} - `)) return title.slice(eventTitle.length + 3);
  const match = /^.{3,60}: (?=Will )/.exec(title);
  return match ? `${title.slice(match[0].length)} ${match[0].slice(0, -2)}` : title;
}

const isDate = (name: string): boolean =>
  withoutMentions(name, datesIn(name, '2026-01-01'))
    .replace(/\b(?:by|before|in|on|after|end of)\b/i, '')
    .trim() === '';
const isSaid = (name: string): boolean => !/^(?:yes|no|up|down|over|under|not .*)$/i.test(name) && !isDate(name);

/** The name and the rest of a statement. */
function split(market: MarketTexts, text: string, rule: string): { name: string | null; rest: string } {
  const child = childOf(text, market.eventTitle);
  if (child) return child;
  const given = market.outcomeName ?? (market.outcomes[1]?.startsWith('Not ') ? (market.outcomes[0] ?? null) : null);
  const who = WHO.exec(text);
  if (who) return { name: who[1] ?? null, rest: text.slice(who[0].length) };
  if (given && isSaid(given) && text.includes(given)) return { name: given, rest: text.replace(given, ' ') };
  const subject = SUBJECT.exec(text);
  if (subject && !ASKS.test(text.slice(0, 6))) return { name: subject[1] ?? null, rest: text.slice(subject[0].length) };
  if (given && isSaid(given) && ASKS.test(text)) return { name: given, rest: text };
  if (!ASKS.test(text)) return { name: null, rest: text };
  const ruled = RULE_SUBJECT.exec(rule);
  return ruled
    ? {
        name: ruled[1] ?? null,
        rest: `${text} ${/\b(?:has won|have won|wins?|win)\b/i.test(rule.slice(0, 120)) ? 'win' : ''}`,
      }
    : { name: null, rest: text };
}

/** The words of a text, its phrases of the tables as tokens, without stop words. */
export function bagOf(text: string): Set<string> {
  // "A x B" names two sides.
  const sides = text.replaceAll(/(?<=[A-Z][a-z]{2,20}) x (?=[A-Z])/g, ' ');
  const all = withTokens(words(sides));
  return new Set(all.filter((word, at) => !STOP.has(word) || isOneOfSeveral(all, at)).toSorted());
}

const JOINS = new Set(['and', 'or']);
/** "The US and Norland", "Norland and the US": a country among others counts, though alone it may be left out. */
function isOneOfSeveral(all: readonly string[], at: number): boolean {
  const before = all[at - 1] === 'the' ? all[at - 2] : all[at - 1];
  return all[at] === 'us' && (JOINS.has(before ?? '') || JOINS.has(all[at + 1] ?? ''));
}

/** The word before a date belongs to the date. */
const OF_DATE =
  /\b(?:(?:on|at) or )?(?:before|prior to|after|since|by|in|on|until|through)(?: the)?(?: (?:end|start|beginning) of)?(?: the)? $/i;

export function withoutMentions(text: string, mentions: readonly DateMention[]): string {
  let rest = text;
  for (const { index, length } of mentions.toReversed())
    rest = `${rest.slice(0, index).replace(OF_DATE, ' ')} ${rest.slice(index + length)}`;
  return rest;
}

const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const NUMBER_WORD = new RegExp(`\\b(?:${NUMBERS.join('|')})\\b`, 'gi');
/** A text with its number words as digits: "at least two" states a range. */
const inDigits = (text: string): string =>
  text.replaceAll(NUMBER_WORD, (word) => String(NUMBERS.indexOf(word.toLowerCase())));

const yearIn = (text: string, near: string | null): string | null =>
  datesIn(text, near)
    .find((each) => each.hasYear)
    ?.to.replace(/^(\d{4})-01-01$/, (_, year: string) => String(Number(year) - 1))
    .slice(0, 4) ?? null;

/** A record ends up to a month after what it is about. */
const LATE_DAYS = 31;
/** A higher number counts ceremonies. */
const LATEST_YEAR = '50';
const TICKER_YEAR = /-(\d{2})(?:[A-Z]{3}\d{0,2}|[A-Z])?(?:-|$)/;

/** A term of office begins after the election that it follows. */
const TERM_OF_OFFICE =
  /\bterm (?:beginning|starting|commencing) (?:in |on )?(?:[A-Z][a-z]{2,8} )?(?:\d{1,2}, )?20\d\d\b/g;

/** The year that the title, the ticker, the event, the rules or, weakly, the end of the record says. */
function yearOf(market: MarketTexts, text: string, rule: string, near: string | null): Statement['year'] {
  const short = TICKER_YEAR.exec(market.id)?.[1];
  const ticker =
    /^[A-Z0-9]+-(20\d\d)-/.exec(market.id)?.[1] ?? (short && short < LATEST_YEAR ? `20${short}` : undefined);
  const found: readonly (readonly [string | null | undefined, string])[] = [
    [yearIn(text, near), text],
    [yearIn(market.eventTitle, near), market.eventTitle],
    [yearIn(rule.replaceAll(TERM_OF_OFFICE, ' '), near), rule],
    [/^KX|^[A-Z]{4,}/.test(market.id) ? ticker : null, market.id],
    [yearIn(market.rules.slice(0, 1500), near), market.rules],
  ];
  for (const [value, quote] of found) if (value) return { value, quote, isWeak: false };
  return near === null ? null : { value: addDays(near, -LATE_DAYS).slice(0, 4), quote: near, isWeak: true };
}

/** "If the value falls exactly between two brackets, the higher one": the low edge belongs to the range, the high edge does not. */
export function withEdges(range: Range, rules: string): Range {
  if (!sentences(rules).some((each) => /exactly between two brackets/i.test(each) && /higher/i.test(each)))
    return range;
  return { ...range, hasLow: true, hasHigh: false };
}

/**
 * The window of the rules, else of the title. The start in the rules is usually the day the market opened. If both windows end on one day,
 * the title's start counts. Else the start of the rules counts only on the first of a month.
 */
export function windowOf(titled: Window, ruled: Window): Window {
  if (ruled.to === null) return titled;
  if (ruled.from === null || titled.to === ruled.to) return { from: ruled.from && titled.from, to: ruled.to };
  return { from: ruled.from.endsWith('-01') ? ruled.from : null, to: ruled.to };
}

/** "By the end of 2027" is "by 2027" where only the other words count. */
const END_OF = /\b(?:the )?end of (?=20\d\d\b)/gi;

/** A term that the dates of the rules replace. */
const TERM = /\b(?:in|within|during) (?:his |her |their |the )?first (?:\d+ days|year|month|week)\b/i;

/** The title without its own name in brackets, where it names it before. */
function withoutOwnName({ title, outcomeName }: MarketTexts): string {
  const own = outcomeName === null ? '' : ` (${outcomeName})`;
  const rest = own !== '' && title.endsWith(own) ? title.slice(0, -own.length) : title;
  return rest !== title && WHO.test(rest) ? rest : title;
}

/** Takes a market's question apart. */
export function readStatement(market: MarketTexts): Statement {
  const text = withoutGroup(statementOf(withoutOwnName(market), market.eventTitle), market.eventTitle);
  const rule = decidingSentence(market.rules);
  const near =
    market.endsAtMs === null ? (market.startsAtMs === null ? null : dayOf(market.startsAtMs)) : dayOf(market.endsAtMs);
  const titled = windowIn(text, near);
  const ruled = windowIn(rule, near);
  const { name, rest } = split(market, text, rule);
  const open = inDigits(rest.replaceAll(END_OF, ' '));
  const bare = withoutMentions(open, datesIn(open, near)).replace(ruled.to === null ? /^$/ : TERM, ' ');
  const nameRange = name === null ? null : rangeIn(inDigits(name));
  const ruleBare = inDigits(withoutMentions(rule, datesIn(rule, near))).replaceAll(/\d{1,2}:\d\d ?(?:[AP]M)?/gi, ' ');
  const titleRange = nameRange ?? rangeIn(bare);
  const recorded = market.strike && { range: market.strike, quote: quote(rule || text) };
  const range =
    recorded ??
    (titleRange || /\bhow (?:many|much)\b|\bscore\?|share of the vote|temperature/i.test(text)
      ? rangeIn(ruleBare)
      : null) ??
    titleRange;
  return {
    text,
    rule,
    name: nameRange ? null : name,
    bag: bagOf(titleRange ? bare.replace(titleRange.quote, ' ') : bare),
    range: range && { ...range, range: withEdges(range.range, market.rules) },
    window: windowOf(titled, ruled),
    year: yearOf(market, text, rule, near),
  };
}
