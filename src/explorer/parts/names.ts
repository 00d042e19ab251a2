import type { Market, Trade } from './answers.ts';

/** Names of an event's markets, by id: those given by the platform, else the part of each title that differs. */
export function namesWithin(markets: readonly Listed[], ends: TimeTexts): ReadonlyMap<string, string> {
  const given = markets.map(({ metadata }) => givenName(metadata));
  const areDistinct = given.every((name) => name !== '') && new Set(given).size === given.length;
  const names = areDistinct && markets.length > 1 ? given : distinctParts(markets.map(({ title }) => title));
  const dated = marksApart(markets, ends, (market) => names[markets.indexOf(market)] ?? '');
  return new Map(markets.map(({ id }, n) => [id, [names[n], dated.get(id)].filter(Boolean).join(' · ')]));
}

/** The platform's name for a market within its event. */
const givenName = (metadata: Market['metadata'] = {}): string =>
  textOf(metadata['group_item_title']) || textOf(metadata['yes_sub_title']);
const textOf = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('**', '').trim() : '');

interface Titled {
  title: string;
  metadata: Market['metadata'] | undefined;
}

/** Two opponents, where \0 is the market's own name: "Pines at Mesa Winner?" is the title of both markets of a game. */
const TWO_SIDES = /(?:\0|\p{Lu}\S*)\s+(?:[vV][sS]?\.?|versus|at|@|or|and)\s+(?:\0|\p{Lu})/u;

/** Whether a title names this market alone, within its first `room` characters. */
function says(title: string, own: string, room: number): boolean {
  const at = title.toLowerCase().indexOf(own.toLowerCase());
  return (
    at !== -1 && at + own.length <= room && !TWO_SIDES.test(`${title.slice(0, at)}\0${title.slice(at + own.length)}`)
  );
}

/** Splits a title for lists, which truncate it: `own` is the market's name if the title ends with it or does not identify the market. */
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

/** Texts of a time in Unix seconds, the shortest first. */
type TimeTexts = readonly ((seconds: number) => string)[];

interface Listed extends Titled {
  id: string;
  /** undefined while loading. */
  trading_end_at?: string | null | undefined;
}

/** Names to show first, by id, for markets that are alike within the first `room` characters of their titles. */
export function namesApart(rows: readonly Listed[], room: number, ends: TimeTexts): ReadonlyMap<string, string> {
  const markets = [...new Map(rows.map((row) => [row.id, row])).values()];
  const cut = (market: Listed): string => textIn(market, room).slice(0, room - 1);
  const apart = new Map<string, string>();
  for (const same of groupsOf(markets, cut)) {
    const titles = same.map(({ title }) => title);
    if (new Set(titles).size < 2) continue;
    const parts = distinctParts(titles);
    for (const [n, { id, title }] of same.entries()) {
      const part = parts[n] ?? title;
      if (part !== title) apart.set(id, part);
    }
  }
  const marks = marksApart(markets, ends, (market) => textIn(market));
  for (const market of markets) {
    const mark = marks.get(market.id);
    if (!mark) continue;
    const before = apart.get(market.id) ?? splitTitle(market, room).own;
    apart.set(market.id, before === '' ? mark : `${before}, ${mark}`);
  }
  return apart;
}

function textIn(market: Titled, room = Infinity): string {
  const { own, rest } = splitTitle(market, room);
  return own === '' ? rest : `${own} · ${rest}`;
}

/** Texts that distinguish markets of equal text on one platform, by id: when trading ends, else the end of the id. */
function marksApart<T extends Listed>(
  markets: readonly T[],
  ends: TimeTexts,
  textOfMarket: (market: T) => string,
): ReadonlyMap<string, string> {
  const marks = new Map<string, string>();
  for (const same of groupsOf(markets, (market) => `${market.id.split(':')[0]} ${textOfMarket(market)}`)) {
    if (same.length < 2 || same.some(({ trading_end_at: end }) => end === undefined)) continue;
    const found = ends
      .map((text) => same.map(({ trading_end_at: end }) => (end ? text(Date.parse(end) / 1000) : '')))
      .find((texts) => new Set(texts).size === same.length);
    for (const [n, { id }] of same.entries()) marks.set(id, found?.[n] ?? shortId(id.slice(id.indexOf(':') + 1)));
  }
  return marks;
}

function groupsOf<T>(all: readonly T[], keyOf: (one: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return [...groups.values()];
}

/** The full title, for places that do not truncate it. */
export function nameOf(market: Titled): string {
  const { own, rest } = splitTitle(market);
  return own === '' || rest !== market.title ? market.title : `${own} · ${rest}`;
}

/** A name with a capital first letter. */
export const titled = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Longer ids are not readable: if there is no name, only their end is shown. */
const LONG = 16;

export const shortId = (id: string): string => (id.length > LONG ? `…${id.slice(-6)}` : id);

/** The name of a trade's outcome; made from its id until the market is loaded. */
export const outcomeName = (
  { outcome }: Pick<Trade, 'outcome'>,
  market: Pick<Market, 'outcomes'> | undefined,
): string => market?.outcomes.find(({ id }) => id === outcome)?.name ?? titled(shortId(outcome));

/** Some event titles have a blank (`__`) that each of their markets fills in. */
export const eventName = (text: string): string => text.replaceAll(/_{2,}/g, '…');

/** A common beginning or end of titles is left out if it has more characters than this. */
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
