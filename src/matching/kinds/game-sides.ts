import { isBeginning, isSameName } from '../names.ts';
import { collegeName } from '../tables/colleges.ts';
import { clubWords } from '../tables/sports.ts';
import { teamIn, usualName } from '../tables/teams.ts';
import { words } from '../text.ts';

const VERSUS = /^(.{2,80}?) (?:vs?\.?|@) (.{2,120})$/i;
/** Codes of both sides and of one, in the ticker of a game. */
export const TICKER = /^[A-Z0-9.]+-\d{2}[A-Z]{3}\d{2}(?:\d{4})?([A-Z0-9]{3,14}?)(?:G[12])?-([A-Z0-9.-]{1,12})$/;

/** The two names of "LaLiga, A vs B, May 10, 2026: A": what follows the last comma or colon before, up to the first sign after. */
export function sidesIn(text: string): [string, string] | null {
  const cut = text
    .replace(/^(.{3,40}) at (.{3,40}?)(?=:| Winner\b|$)/, '$1 vs $2')
    .replaceAll(/\b(?:Will|Who will win(?: the)?|Winner of(?: the)?)\b/g, '')
    .trim();
  const match = VERSUS.exec(cut);
  if (!match) return bothIn(text);
  const left =
    (match[1] ?? '')
      .split(/[:,] |\bwin the\b| - /)
      .at(-1)
      ?.trim() ?? '';
  const right =
    (match[2] ?? '')
      .split(
        /[:,(?|]| - | Winner\b| end in\b| professional\b| scheduled\b| total\b| first half\b| O\/U\b| match\b| on (?=[A-Z][a-z]{2,8} \d)/i,
      )[0]
      ?.trim() ?? '';
  return left.length > 1 && right.length > 1 ? [left, right] : null;
}

function bothIn(text: string): [string, string] | null {
  const match = /\bboth (.{2,50}?) and (.{2,50}?) (?:to )?score\b/i.exec(text);
  return match ? [match[1] ?? '', match[2] ?? ''] : null;
}

/** The name of a side in the league's table, else its usual name. */
export function sideName(league: string | null, name: string): string {
  const folded = collegeName(league, words(name).join(' '));
  return (
    (league ? teamIn(league, folded) : null) ??
    usualName(usualName(folded) === folded ? clubWords(folded).join(' ') : folded)
  );
}

/** Which of the two sides a name means; null if none or both. */
export function sideOf(name: string, sides: readonly [string, string], league: string | null): 0 | 1 | null {
  const own = sideName(league, name);
  const fits = sides.map((side) => {
    const other = sideName(league, side);
    if (own === other) return 3;
    if (own.includes(':') && other.includes(':')) return 0;
    const [one, another] = [name, side].map((each) => clubWords(collegeName(league, words(each).join(' '))).join(' '));
    if (isSameName(one ?? '', another ?? '')) return 2;
    return isBeginning(one ?? '', another ?? '') ? 1 : 0;
  });
  const [first = 0, second = 0] = fits;
  if (first === second) return null;
  return first > second ? 0 : 1;
}

const isWithin = (code: string, name: string): boolean => {
  let at = 0;
  for (const letter of name) if (letter === code[at]) at += 1;
  return at === code.length;
};

/** The side that the end of a ticker names, by the table of teams or by the order of the codes in the ticker. */
export function sideOfTicker(
  id: string,
  sides: readonly [string, string],
  league: string | null,
): 0 | 1 | 'draw' | null {
  const match = TICKER.exec(id);
  const code = (match?.[2] ?? '').replace(/\d+$/, '').toLowerCase();
  if (!match || code === '') return null;
  if (code === 'tie' || code === 'draw') return 'draw';
  const known = league ? teamIn(league, code) : null;
  if (known) {
    const at = sides.findIndex((side) => sideName(league, side) === known);
    if (at !== -1) return at === 0 ? 0 : 1;
  }
  const both = (match[1] ?? '').toLowerCase();
  const [starts, ends] = [both.startsWith(code), both.endsWith(code)];
  if (starts === ends) return null;
  const side = starts ? 0 : 1;
  const letters = sides.map((each) => words(each).join(''));
  const isOwn = isWithin(code, letters[side] ?? '');
  return isOwn || !isWithin(code, letters[1 - side] ?? '') ? side : null;
}
