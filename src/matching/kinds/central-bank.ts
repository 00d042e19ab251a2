import { dayOf } from '../../core/time.ts';
import { datesIn } from '../dates.ts';
import type { Facts, MarketTexts } from '../facts.ts';
import { above, exactly, rangeIn, withStep, type Range } from '../range.ts';
import { withoutMentions } from '../statement.ts';
import { decidingSentence, quote, words } from '../text.ts';

/** Central banks: `bank|country|names`, one a line. Add a line. */
const BANKS = `fed|united states|federal reserve|fed|fomc|federal open market committee
  ecb|euro area|european central bank|ecb
  boe|uk|bank of england|boe
  boj|japan|bank of japan|boj
  boc|canada|bank of canada|boc
  rba|australia|reserve bank of australia|rba
  rbnz|new zealand|reserve bank of new zealand|rbnz
  snb|switzerland|swiss national bank|snb
  bcb|brazil|central bank of brazil|banco central do brasil|copom|selic
  banxico|mexico|bank of mexico|banxico
  rbi|india|reserve bank of india|rbi
  bok|south korea|bank of korea|bok
  cbr|russia|bank of russia|central bank of russia
  tcmb|turkey|central bank of turkey|tcmb`
  .split('\n')
  .map((line) => line.trim().split('|'));

const CUT = /\b(?:cut|cuts|decrease[sd]?|lower(?:s|ed)?|reduc(?:e|es|ed)|trims?)\b/i;
const HIKE = /\b(?:hike|hikes|increase[sd]?|raise[sd]?)\b/i;
const NO_CHANGE =
  /\bno change\b|\bunchanged\b|\bexactly the same\b|\bhold(?:s)? rates?\b|\b(?:hold|keep|leave|remain|stay)s?(?: \w+){0,4} (?:steady|the same)\b|\bmaintain|\bpause\b|\b(?:hike|cut)s?(?: rates)? (?:by|of) 0 ?bps\b/i;

/** A number of basis points with its comparator, upwards: "26 or more basis points", ">25bps", "50+ bps". */
function pointsIn(text: string): Range | null {
  const between =
    /\bbetween (\d{1,3})(?: \(inclusive\))? and (\d{1,3})(?: \(inclusive\))?(?: or (more))? (?:basis points|bps)/i.exec(
      text,
    );
  if (between) return { low: Number(between[1]), high: Number(between[2]), step: 0, hasLow: true, hasHigh: true };
  if (/\b(?:less than|under|below|up to|at most|no more than|<) ?\d|\bor (?:less|fewer|lower|smaller)\b/i.test(text))
    return null;
  const more =
    /(\d{1,3}) ?(?:\+ ?(?:bps|basis points)|or more (?:basis points|bps)|(?:bps|basis points) or (?:more|greater|higher|larger))|\bat least (\d{1,3}) ?(?:bps|basis points)/i.exec(
      text,
    );
  if (more) return above(Number(more[1] ?? more[2]), true);
  const over = /(?:>|more than|over|greater than) ?(\d{1,3}) ?(?:bps|basis points)/i.exec(text);
  if (over) return above(Number(over[1]), false);
  const exact = /(\d{1,3}) ?(?:bps?|basis points?)\b/i.exec(text);
  return exact ? exactly(Number(exact[1])) : null;
}

const negative = (range: Range): Range => ({
  low: range.high === null ? null : -range.high,
  high: range.low === null ? null : -range.low,
  step: range.step,
  hasLow: range.hasHigh,
  hasHigh: range.hasLow,
});

/** The change of the rate in basis points that a sentence asks for; null if it asks for none. */
function changeIn(text: string): Range | null {
  if (NO_CHANGE.test(text)) return exactly(0);
  const points = pointsIn(text);
  const [isCut, isHike] = [CUT.test(text), HIKE.test(text)];
  if (!points || isCut === isHike) return null;
  return isCut ? negative(points) : points;
}

/** Changes between the options count as the next multiple of 25. */
const ROUNDED_UP = /\brounded up to the nearest 25\b/i;

/** What a stated change includes where changes are rounded away from zero to multiples of 25: 50 or more is more than 25. */
function roundedUp(range: Range): Range {
  const { low, high } = range;
  if (low !== null && low > 0) return { ...range, low: low - 25, hasLow: false };
  return high !== null && high < 0 ? { ...range, high: high + 25, hasHigh: false } : range;
}

const LEVEL = /\b(?:(?:upper|lower) (?:bound|limit)|target|level)\b(.{0,80}\d ?%.{0,20})/i;

/** The level of the rate that a title asks for, and which end of the target that is; null if it asks for none. */
function levelIn(title: string, rule: string): { range: Range; bound: string } | null {
  const text = LEVEL.exec(title)?.[1] ?? '';
  const at = /\bat (\d{1,2}(?:\.\d{1,2})?) ?%/i.exec(text);
  const range = rangeIn(text)?.range ?? (at ? exactly(Number(at[1])) : null);
  if (!range) return null;
  return { range, bound: /\b(upper|lower) (?:bound|limit)\b/i.exec(`${title} ${rule}`)?.[1]?.toLowerCase() ?? '' };
}

/** A rate that a bank sets beside the one of its decisions. */
const RATE = /\b(refinancing|lending|reverse repo|discount|prime)\b/i;

/** Words of a title that state a decision: others ask for something else, as for the votes on it. */
const PLAIN = new Set(
  (
    'will the a an in at of on for by to be is there between and or than what how after following before until their its meeting decision announcement announce this bank central monetary committee us u s ' +
    'change no unchanged same cut cuts decrease decreases decreased lower lowers lowered reduce reduces reduced hike hikes increase increases increased raise raises raised ' +
    'hold holds keep keeps leave leaves left remain remains stay stays steady maintain maintains pause pauses deliver delivers make makes trim trims basis points point bp bps 0bps 25bps 50bps 75bps 100bps 25bp 50bp more less greater larger smaller higher fewer least most over above below under up exactly inclusive ' +
    'rate rates interest target range federal funds fund upper bound limit level key policy base short term deposit facility cash overnight benchmark official repo main refinancing lending reverse discount prime'
  ).split(' '),
);

/** Both days of a meeting, which end with its decision: "December 8-9, 2026". */
const TWO_DAYS = /\b((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? )\d{1,2} ?- ?(?=\d{1,2}\b)/i;
const QUARTER_POINT = /\bquarter(?: percentage)?[ -]points?\b/gi;

/** Whether a title asks for more than one decision of one meeting. */
function hasMore(title: string, names: readonly string[], near: string | null): boolean {
  const dates = datesIn(title, near);
  if (new Set(dates.map(({ from }) => from.slice(0, 7))).size > 1) return true;
  const folded = ` ${words(withoutMentions(title, dates).replaceAll(QUARTER_POINT, ' ')).join(' ')} `;
  const bare = names.reduce((rest, name) => rest.replaceAll(` ${name} `, ' '), folded);
  return bare.split(' ').some((word) => word !== '' && !PLAIN.has(word) && !/^\d+$/.test(word));
}

/** Decisions of central banks at one meeting: the change of the rate, or its level. */
export function centralBankFacts(market: MarketTexts): Facts | null {
  const title = market.title.replace(TWO_DAYS, '$1');
  const heading = words(`${title} ${market.eventTitle}`).join(' ');
  const [bank, another] = BANKS.filter((names) => names.slice(2).some((name) => ` ${heading} `.includes(` ${name} `)));
  if (
    !bank ||
    another ||
    !/\b(?:rates?|bps|basis points|decision)\b/i.test(title) ||
    /\b(?:times|how many|number of|emergency|chair)\b/i.test(title)
  )
    return null;
  if (/\b\d+ (?:fed |rate |interest )*(?:cuts|hikes)\b|\bno (?:fed )?rate cuts?\b/i.test(title)) return null;
  const near = market.endsAtMs === null ? null : dayOf(market.endsAtMs);
  const meeting = datesIn(title, near)[0] ?? datesIn(market.eventTitle, near)[0];
  if (!meeting || meeting.unit === 'year' || hasMore(title, bank.slice(1), near)) return null;
  const rule = decidingSentence(market.rules);
  const level = levelIn(title, rule);
  const change = changeIn(rule) ?? changeIn(title);
  const stated = level ? level.range : change && (ROUNDED_UP.test(market.rules) ? roundedUp(change) : change);
  if (!stated) return null;
  const shown = quote(market.title);
  const rate = RATE.exec(title)?.[1]?.toLowerCase();
  // "By the March meeting" includes those before it.
  const isDeadline = /\b(?:by|before|until|through)(?: the)?(?: end of)? $/i.test(
    title.slice(0, datesIn(title, near)[0]?.index),
  );
  return {
    kind: 'central_bank',
    topic: {
      bank: { value: bank[0] ?? '', quote: shown },
      meeting: { value: meeting.from.slice(0, 7), quote: shown },
      measure: { value: level ? `level ${level.bound}`.trim() : 'change', quote: shown },
      ...(rate === undefined ? {} : { rate: { value: rate, quote: shown } }),
      ...(isDeadline ? { until: { value: 'by the meeting', quote: shown } } : {}),
    },
    claim: {
      value: shown,
      quote: quote(rule || market.title),
      of: { type: 'range', range: withStep(stated, level ? 0.01 : 1) },
    },
    window: null,
    source: null,
    tails: [],
  };
}
