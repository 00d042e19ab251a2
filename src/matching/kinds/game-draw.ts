import type { Fact } from '../facts.ts';
import { quote } from '../text.ts';

/** "The main draw", "a tie-break" and "the tie", which is a round of a cup, are no results. */
const DRAWN = /\b(?:(?<!main |qualifying )draws?|drawn|(?<=\b(?:an?|any|or|no)\b \W?)tie|ties|tied)\b(?![- ]?breaks?)/i;
const HALF = /\b50 ?[-–/] ?50\b|\b50 ?(?:%|percent|cents|¢)|\$?\b0?\.50?\b|\b(?:split|equally|evenly)\b/i;
const OTHER = /\bfair\b|\brefund|\bvoid|\blast traded\b/i;
const NO = /\b(?:resolves?|settles?|settled|resolved|pays?|counts?)\b.*\bno\b/i;

/** What the rules say that a drawn game pays on a side: half, a price of that time, or nothing; null if they do not say it. */
export function payOfDraw(rules: string): Fact | null {
  for (const sentence of rules.slice(0, 3000).split(/(?<=[.!?;])\s+/)) {
    if (!DRAWN.test(sentence)) continue;
    const value = HALF.test(sentence) ? 'half' : OTHER.test(sentence) ? 'other' : NO.test(sentence) ? 'no' : null;
    if (value !== null) return { value, quote: quote(sentence) };
  }
  return null;
}
