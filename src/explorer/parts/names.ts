import type { Market } from './answers.ts';

/** What a market is called among the markets of its event: by the platform, else what its title has of its own. */
export function namesWithin(markets: readonly Market[]): ReadonlyMap<string, string> {
  const given = markets.map(({ metadata }) => givenName(metadata));
  const areDistinct = given.every((name) => name !== '') && new Set(given).size === given.length;
  const names = areDistinct && markets.length > 1 ? given : distinctParts(markets.map(({ title }) => title));
  return new Map(markets.map(({ id }, n) => [id, names[n] ?? '']));
}

/** The platform's name for a market beside the others of its event. */
const givenName = (metadata: Market['metadata'] = {}): string =>
  textOf(metadata['group_item_title']) || textOf(metadata['yes_sub_title']);
const textOf = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('**', '').trim() : '');

interface Titled {
  title: string;
  metadata: Market['metadata'] | undefined;
}

/** Own name, or a name, on both sides: "Pines at Mesa Winner?" is the title of both markets of a game. */
const TWO_SIDES = /(?:\0|\p{Lu}\S*)\s+(?:[vV][sS]?\.?|versus|at|@|or|and)\s+(?:\0|\p{Lu})/u;

/** Whether a title is about one thing, and says within `room` letters that it is this one. */
function says(title: string, own: string, room: number): boolean {
  const at = title.toLowerCase().indexOf(own.toLowerCase());
  return (
    at !== -1 && at + own.length <= room && !TWO_SIDES.test(`${title.slice(0, at)}\0${title.slice(at + own.length)}`)
  );
}

/** A title in two parts for lists, which cut it: `own` is the market's name where the title does not say it, or says it last. */
export function splitTitle({ title, metadata }: Titled, room = Infinity): { own: string; rest: string } {
  const own = givenName(metadata);
  if (own === '' || own === title) return { own: '', rest: title };
  const rest = withoutEnd(title, own);
  return { own: rest === null && says(title, own, room) ? '' : own, rest: rest ?? title };
}

function withoutEnd(title: string, own: string): string | null {
  const ending = [` (${own})`, `: ${own}`].find((text) => title.endsWith(text) && title !== text);
  return ending === undefined ? null : title.slice(0, -ending.length);
}

/** A title where there is room for all of it. */
export function nameOf(market: Titled): string {
  const { own, rest } = splitTitle(market);
  return own === '' || rest !== market.title ? market.title : `${own} · ${rest}`;
}

/** Some events are named with a blank for what each of their markets fills in. */
export const eventName = (text: string): string => text.replaceAll(/_{2,}/g, '…');

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
