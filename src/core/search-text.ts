/** Letters that Unicode normalization does not decompose, with the letters that are searched. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ς: 'σ',
};
/** For this many words of a query, words that begin with them or have a typo are found too; further words must be equal. */
export const OPEN_WORDS = 6;
/** Words of fewer letters are searched without typos: too many words differ from them by one letter. */
const TYPO_LETTERS = 5;
/** Shorter beginnings of words would find nearly every market. */
const PREFIX_LETTERS = 3;

/**
 * A text as it is searched: its words in lower case without accents, with one space between. sql/schema/006_markets.sql folds stored
 * texts in the same way; a test compares both.
 */
export const foldText = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[ßæœþøłđðħŧıς]/g, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Letters with dots between them: U.S., J.D. */
const INITIALS = /(?<![\p{L}\p{N}])\p{L}(?:\.\p{L})+(?![\p{L}\p{N}])/gu;

/** Text as it is searched, in which initials are one word: `us` of "U.S." as of "US". */
export const searchedText = (text: string): string =>
  foldText(text.replaceAll(INITIALS, (letters) => letters.replaceAll('.', '')));

/** The initials that a query writes with dots, and their letters: the words of a title that was copied before initials were one word. */
export const initialsOf = (query: string): ReadonlyMap<string, string[]> =>
  new Map((query.match(INITIALS) ?? []).map((letters) => [searchedText(letters), foldText(letters).split(' ')]));

/** Whether words that begin with this one are found for it. */
export const mayBegin = (word: string): boolean => [...word].length >= PREFIX_LETTERS;

/** Whether words with a typo in this one are found for it; a digit is never a typo. */
export const mayBeTypo = (word: string): boolean => [...word].length >= TYPO_LETTERS && !/\p{N}/u.test(word);

const rest = (letters: readonly string[], from: number): string => letters.slice(from).join('');

/** Whether two words differ by one letter: inserted, left out, replaced, or swapped with its neighbour. */
export function isOneTypo(a: string, b: string): boolean {
  const [short, long] = [[...a], [...b]].toSorted((one, two) => one.length - two.length) as [string[], string[]];
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (long.length === short.length + 1) return rest(short, at) === rest(long, at + 1);
  if (long.length !== short.length || at === short.length) return false;
  const isSwapped = short[at] === long[at + 1] && short[at + 1] === long[at];
  return rest(short, at + 1) === rest(long, at + 1) || (isSwapped && rest(short, at + 2) === rest(long, at + 2));
}
