import { ONE_PRICE, PRICE_SCALE, type Price, type Usd, USD_SCALE, complement, decimalNumber } from '../core/decimal.ts';
import { parseIso8601 } from '../core/iso-8601.ts';
import type { JsonObject, Outcome, Quote } from '../core/model.ts';
import { DAY_MS } from '../core/time.ts';

/** Numbers from here on are milliseconds: as seconds they would be in the year 5138. */
const MILLISECONDS_FROM = 1e11;
const [YEAR_1900_MS, YEAR_10000_MS] = [Date.UTC(1900, 0, 1), Date.UTC(10_000, 0, 1)];
/** Years of more than four digits are formatted differently, which the store does not accept. */
const isDatable = (ms: number): boolean => ms >= YEAR_1900_MS && ms < YEAR_10000_MS;

/** Go's zero time, which platforms send for an unknown one. */
const ZERO_TIME = /^0001-01-01T00:00:00(?:\.0+)?Z$/i;

/** Unix microseconds of a platform's time text (`parseIso8601`); null for anything else, and for a year that cannot be stored. */
export function microseconds(text: string | null | undefined): number | null {
  const us = parseIso8601(text?.trim() ?? '');
  return us !== null && isDatable(us / 1000) ? us : null;
}

/** Whether a text is a time, or says that none is known: it is empty, or Go's zero time. */
export const isTimeOrUnknown = (text: string): boolean =>
  text.trim() === '' || ZERO_TIME.test(text.trim()) || microseconds(text) !== null;

/** Any platform's time text as `YYYY-MM-DDTHH:MM:SS.mmmZ`, truncated to milliseconds; null when unknown. */
export function isoTime(text: string | null | undefined): string | null {
  const us = microseconds(text);
  return us === null ? null : new Date(Math.floor(us / 1000)).toISOString();
}

/** Unix seconds or milliseconds (distinguished by size), as number or text, in the same form; null if invalid. 0 means that there is none. */
export function isoFromEpoch(value: number | string | null | undefined): string | null {
  const number = Number(value ?? '');
  if (!(number > 0)) return null;
  const ms = number >= MILLISECONDS_FROM ? number : number * 1000;
  return isDatable(ms) ? new Date(Math.floor(ms)).toISOString() : null;
}

/** A price that somebody quotes; null for 0 and 1, which platforms send for a side without orders. */
export const quotedPrice = (price: Price | null | undefined): Price | null =>
  price === undefined || price === 0n || price === ONE_PRICE ? null : price;

/** Lower case ASCII words joined by `-`: NFKD, combining marks dropped; '' when nothing is left. */
export const kebab = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');

/** Outcome ids of a market in the platform's order: `yes`/`no`, else the kebab form, made unique with the index. */
export function outcomeIds(names: readonly string[]): string[] {
  const ids: string[] = [];
  names.forEach((name, index) => {
    let id = kebab(name) || `outcome-${index}`;
    while (ids.includes(id)) id = `${id}-${index}`;
    ids.push(id);
  });
  return ids;
}

/** Yes and No with their token ids, '' if the platform has none. */
export const yesNoOutcomes = (yesToken: string, noToken: string): Outcome[] => [
  { id: 'yes', name: 'Yes', tokenId: yesToken },
  { id: 'no', name: 'No', tokenId: noToken },
];

const nameIn = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('**', '').trim() : '');

/** Which market of its event it is, as the platform names it: a team, a person, a range; null if it has no such name. */
export function outcomeName({ group_item_title: item, yes_sub_title: side }: JsonObject): string | null {
  const name = nameIn(side);
  return nameIn(item) || (/^(yes|no)$/i.test(name) ? null : name || null);
}

/** Whether a market is a pool. The feed of its trades is not read. */
export const isPool = ({ trade_type: kind }: JsonObject): boolean => kind === 'amm';

/** Whether there is a book to read: a pool, and a market that no longer trades, have none. */
export const hasBook = ({ status, metadata }: { status: string; metadata: JsonObject }): boolean =>
  status !== 'closed' && status !== 'settled' && !isPool(metadata);

export const UNKNOWN_QUOTE: Readonly<Quote> = { price: null, bid: null, ask: null };

/** The quote of a binary market's second outcome: every side at 1 − p of the other, unknown stays unknown. */
export const complementQuote = ({ price, bid, ask }: Quote): Quote => ({
  price: price === null ? null : complement(price),
  bid: ask === null ? null : complement(ask),
  ask: bid === null ? null : complement(bid),
});

/** The payouts of a binary market of which one Yes contract pays `yes`. */
export const binaryPayouts = (yes: Price): JsonObject => ({
  yes: decimalNumber(yes, PRICE_SCALE),
  no: decimalNumber(complement(yes), PRICE_SCALE),
});

/** min(1, log10(1 + USD) / 6) to 4 decimals: 0 is nothing, 0.5 is 1,000 USD, 1 is a million. For reporting only. */
export const liquidityScore = (liquidity: Usd): number =>
  Math.round(Math.min(1, Math.log10(1 + decimalNumber(liquidity, USD_SCALE)) / 6) * 1e4) / 1e4;

/** Windows of the four rolling volumes, in milliseconds. */
export const WINDOW_MS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS, '1y': 365 * DAY_MS } as const;

/** Volume over the last `windowMs` if the market is younger than the window: then it is the total. Null otherwise. */
export function youngMarketVolume(
  total: Usd | null,
  startedAt: string | null,
  nowIso: string,
  windowMs: number,
): Usd | null {
  return startedAt !== null && Date.parse(startedAt) > Date.parse(nowIso) - windowMs ? total : null;
}

const UNIT = String.raw`(m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|months?|y|years?)`;
/** "5-min", "15 min", "1h"; or "minutes_5", "hours_1". */
const COUNTED = new RegExp(String.raw`^(\d{1,6})[\s_-]*${UNIT}$`, 'i');
const COUNTED_AFTER = new RegExp(String.raw`^${UNIT}[\s_-]+(\d{1,6})$`, 'i');

/** A unit of time: how many of it make the next unit, and the word for a period of one unit. */
interface Unit {
  name: string;
  word: string | null;
  next: [count: number, unit: Unit] | null;
}
const YEARS: Unit = { name: 'y', word: 'annual', next: null };
const MONTHS: Unit = { name: 'mo', word: 'monthly', next: [12, YEARS] };
const WEEKS: Unit = { name: 'w', word: 'weekly', next: null };
const DAYS: Unit = { name: 'd', word: 'daily', next: [7, WEEKS] };
const HOURS: Unit = { name: 'h', word: 'hourly', next: [24, DAYS] };
const MINUTES: Unit = { name: 'm', word: null, next: [60, HOURS] };

const unitOf = (word: string): Unit => {
  const start = word.toLowerCase();
  if (start.startsWith('mo')) return MONTHS;
  return [MINUTES, HOURS, DAYS, WEEKS, YEARS].find(({ name }) => start.startsWith(name)) ?? MINUTES;
};

/** A number of units in the largest unit that it is a whole number of: 60 minutes are "hourly", 240 are "4h". */
function counted(count: number, unit: Unit): string | null {
  if (count === 0) return null;
  const [size, larger] = unit.next ?? [];
  if (size && larger && count % size === 0) return counted(count / size, larger);
  if (unit === MONTHS && count === 3) return 'quarterly';
  return (count === 1 && unit.word) || `${count}${unit.name}`;
}

/** A period of a number and a unit, as `4h` or `hourly`; null for a text that is none. */
export function countedPeriod(text: string): string | null {
  const [, number, unit] = COUNTED.exec(text.trim()) ?? [];
  const [, unitBefore, numberAfter] = COUNTED_AFTER.exec(text.trim()) ?? [];
  const name = unit ?? unitBefore;
  return name ? counted(Number(number ?? numberAfter), unitOf(name)) : null;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
  middot: '·',
  euro: '€',
  pound: '£',
  deg: '°',
  times: '×',
};

function decodeEntity(entity: string, body: string): string {
  if (!body.startsWith('#')) return ENTITIES[body.toLowerCase()] ?? entity;
  const code = /^#x/i.test(body) ? parseInt(body.slice(2), 16) : Number(body.slice(1));
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : entity;
}

/**
 * HTML (or plain text) as plain text: paragraph ends, line breaks and list items become new lines, tags are removed, entities are
 * decoded once and last (so `&lt;b&gt;` stays text), and runs of blank lines become one.
 */
export function htmlToText(html: string): string {
  return html
    .replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, '')
    .replace(/<br\s*\/?>|<\/(?:p|div|li|h[1-6]|tr)\s*>/gi, '\n')
    .replace(/<\/?[a-z][^>]*>|<!--[\s\S]*?-->/gi, '')
    .replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi, decodeEntity)
    .replace(/[ \t\u00a0]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
