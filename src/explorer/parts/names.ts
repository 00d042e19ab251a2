import type { Market } from './answers.ts';

/** What a market is called among the markets of its event: by the platform, else what its title has of its own. */
export function namesWithin(markets: readonly Market[]): ReadonlyMap<string, string> {
  const given = markets.map(
    ({ metadata }) => textOf(metadata['group_item_title']) || textOf(metadata['yes_sub_title']),
  );
  const areDistinct = given.every((name) => name !== '') && new Set(given).size === given.length;
  const names = areDistinct && markets.length > 1 ? given : distinctParts(markets.map(({ title }) => title));
  return new Map(markets.map(({ id }, n) => [id, names[n] ?? '']));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('**', '').trim() : '');

/** Words of what titles begin and end with in common stay out of them, where these are many. */
const MANY = 12;

function distinctParts(titles: readonly string[]): string[] {
  if (titles.length < 2) return [...titles];
  const start = wordsInCommon(titles.map((title) => title.split(' ')));
  const end = wordsInCommon(titles.map((title) => title.split(' ').toReversed()));
  return titles.map((title) => {
    const words = title.split(' ');
    const rest = Math.max(0, words.length - start);
    const before = words.slice(0, start).join(' ');
    const after = words.slice(words.length - Math.min(end, rest)).join(' ');
    const from = before.length > MANY ? start : 0;
    const to = end > 0 && after.length > MANY ? words.length - Math.min(end, rest) : words.length;
    const own = words.slice(from, to).join(' ');
    return own === '' ? title : `${from > 0 ? '… ' : ''}${own}${to < words.length ? ' …' : ''}`;
  });
}

function wordsInCommon(titles: readonly string[][]): number {
  const [first = []] = titles;
  const at = first.findIndex((word, n) => titles.some((words) => words[n] !== word));
  return at === -1 ? first.length : at;
}
