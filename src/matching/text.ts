import { foldText } from '../core/search-text.ts';

/** Longer texts are cut: the deciding sentence of a market stands at its beginning. */
const TITLE_LENGTH = 300;
const RULES_LENGTH = 5_000;
const QUOTE_LENGTH = 240;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', nbsp: ' ', '#39': "'" };

/** A text without HTML, control characters and typographic variants of quotes, dashes and spaces. */
function plain(text: string): string {
  return text
    .replaceAll(/<[a-z/][^<>]{0,300}>/gi, ' ')
    .replaceAll(/&(amp|quot|lt|gt|nbsp|#39);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll(/[‘’ʼ`]/g, "'")
    .replaceAll(/[“”«»]/g, '"')
    .replaceAll(/[‐‑‒–—−]/g, '-')
    .replaceAll(/ +/g, ' ')
    .trim();
}

export const plainTitle = (text: string): string => plain(text.slice(0, TITLE_LENGTH));
export const plainRules = (text: string): string => plain(text.slice(0, RULES_LENGTH));

/** A word with letters of two scripts is made to look like another one. */
const MIXED = /(?=[\p{L}]*\p{Script=Latin})(?=[\p{L}]*[\p{Script=Cyrillic}\p{Script=Greek}])/u;

/** Whether a text has a word that mixes scripts, or a blank that was not filled in. */
export function isDisguised(text: string): boolean {
  if (text.includes('___')) return true;
  return text
    .split(' ')
    .some((word) => word.length < 60 && MIXED.test(word) && !/^[\p{Script=Greek}][A-Z]/u.test(word));
}

/** The sentences of a text; a full stop in a number, an initial or a month's short name ends none. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (const { index } of text.matchAll(/[.?!;]"? (?=["A-Z(])/g)) {
    const before = text.slice(Math.max(from, index - 5), index);
    if (/(?:^|[ .(])(?:[A-Z]|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|vs|No|St|Jr|Sr|Mr|Dr|Inc)$/.test(before))
      continue;
    found.push(text.slice(from, index + 1).trim());
    from = index + 1;
  }
  found.push(text.slice(from).trim());
  return found.filter((sentence) => sentence !== '').slice(0, 60);
}

const RESOLVES = /\bresolves?\b/i;
const WHEN = /\b(?:if|according to|to the)\b/i;

/** The sentence that says when Yes pays; '' if the rules have none. */
export function decidingSentence(rules: string): string {
  const all = sentences(rules);
  const yes = all.find((each) => RESOLVES.test(each) && /\b(?:yes|up|over)\b/i.test(each) && /\bif\b/i.test(each));
  return yes ?? all.find((each) => RESOLVES.test(each) && WHEN.test(each)) ?? '';
}

/** A quotation of bounded length. */
export const quote = (text: string): string =>
  text.length <= QUOTE_LENGTH ? text : `${text.slice(0, QUOTE_LENGTH - 1)}…`;

/** The words of a text, folded. */
export const words = (text: string): string[] => {
  const folded = foldText(text);
  return folded === '' ? [] : folded.split(' ');
};

/** The day of the week that stands beside a date. */
export const WEEKDAYS: ReadonlySet<string> = new Set(
  'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun'.split(' '),
);

const BLANK = /_{2,}|\.\.\.|…/;

/** The statement of a market: its title, completed by the group whose blank it fills, or which names what the title leaves out. */
export function statementOf(title: string, eventTitle: string): string {
  const filled = /^(.{0,200}?)(?:_{2,}|\.\.\.|…)(.{0,200}): ([^:_]{1,60})$/.exec(title);
  const [, before = '', after = '', child = ''] = filled ?? [];
  if (filled) return `${before}${/[a-z]$/i.test(before) ? ' ' : ''}${child}${after}`;
  if (title === '' || /_{2,}/.test(title)) return eventTitle;
  const lead = eventTitle.split(BLANK)[0] ?? '';
  const isPart =
    title.length <= 40 && eventTitle !== '' && !eventTitle.includes(title) && !(lead !== '' && title.startsWith(lead));
  if (isPart && BLANK.test(eventTitle)) return eventTitle.replace(BLANK, title);
  return isPart && !/[a-z]{3}/i.test(title) ? `${eventTitle}: ${title}` : title;
}
