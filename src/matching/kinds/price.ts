import { MINUTE_MS, dayOf, DAY_MS, HOUR_MS } from '../../core/time.ts';
import { addDays, datesIn, dayInNewYork, isTwiceInNewYork, msOfDay, newYorkMs, windowIn } from '../dates.ts';
import type { Facts, MarketTexts } from '../facts.ts';
import { above, below, rangeIn, withStep, type Range } from '../range.ts';
import { windowOf, withEdges } from '../statement.ts';
import { assetIn, isInCents } from '../tables/assets.ts';
import { decidingSentence, quote, statementOf, words } from '../text.ts';
import { CLOCK, restOf, withoutDates } from './price-rest.ts';
import { candleMinutes, sourceOf } from './price-source.ts';

const TOUCHES =
  /\b(?:reach|hit|touch|dip|fall to|drop to|get to|how high|how low|all[- ]time high|ath|high of|low of)\b/i;
const LOW = /\b(?:dip|fall|drop|how low|low)\b/i;
const PRICED =
  /\b(?:price|close|closes|above|below|between|reach|hit|dip|fall|drop|less than|greater than|at or above|how high|how low)\b/i;
const STRIKE = /-T(\d{1,9}(?:\.\d{1,18})?)$/;
const CENT = 0.01;
/** Lower prices may be finer than a cent. */
const LOWEST_IN_CENTS = 100;
const isOfCents = (level: number | null): boolean =>
  level === null || (level >= LOWEST_IN_CENTS && Math.abs(level * 100 - Math.round(level * 100)) < 1e-6);
const stepOf = (asset: string, { low, high }: Range): number =>
  isInCents(asset) && isOfCents(low) && isOfCents(high) ? CENT : 0;

/** A letter code or a region after a clock time that is none of New York or UTC. */
const OTHER_ZONE =
  /^ ?\(?(?:(?!E[DS]?T\b|UTC\b|GMT\b)[A-Z]{1,4}T\b|[Pp]acific|[Cc]entral|[Mm]ountain|(?:[pcm][ds]?t|cest|bst|jst)\b)/;

/** A clock time of a text, in ms of its day; null without one. */
function clockIn(text: string, day: string): number | null {
  const match = CLOCK.exec(text);
  if (!match || OTHER_ZONE.test(text.slice(match.index + match[0].length))) return null;
  const [, h12, m12, half, zone12, h24, m24, zone24, noon, zoneNoon] = match;
  const hour = noon ? 12 : h24 ? Number(h24) : (Number(h12) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0);
  const minutes = hour * 60 + Number(m24 ?? m12 ?? 0);
  const zone = (zone12 ?? zone24 ?? zoneNoon ?? 'et').toLowerCase();
  if (zone === 'utc' || zone === 'gmt') return msOfDay(day) + minutes * 60_000;
  return isTwiceInNewYork(day, minutes) ? null : newYorkMs(day, minutes);
}

/** The level: as the deciding sentence, the title or the ticker states it. */
function levelOf(market: MarketTexts, statement: string, rule: string): { range: Range; quote: string } | null {
  if (market.strike) return { range: market.strike, quote: quote(rule || statement) };
  const strike = STRIKE.exec(market.id)?.[1];
  if (strike !== undefined) return { range: above(Number(strike), false), quote: market.id };
  const arrow = /([↑↓]) ?\$?(\d{1,9}(?:,\d{3}){0,3}(?:\.\d{1,18})?)/.exec(statement);
  if (arrow) {
    const value = Number((arrow[2] ?? '').replaceAll(',', ''));
    return { range: arrow[1] === '↑' ? above(value, true) : below(value, true), quote: arrow[0] };
  }
  const stated = rangeIn(withoutDates(rule)) ?? rangeIn(withoutDates(statement));
  if (stated) return stated;
  const touched =
    /\b(?:reach|hit|touch|dip to|fall to|drop to|to) \$?(\d{1,9}(?:,\d{3}){0,3}(?:\.\d{1,18})?) ?(k|m)?\b/i.exec(
      statement,
    );
  if (!touched) return null;
  const value =
    Number((touched[1] ?? '').replaceAll(',', '')) * (touched[2]?.toLowerCase() === 'k' ? 1e3 : touched[2] ? 1e6 : 1);
  const range: Range = LOW.test(statement) ? below(value, true) : above(value, true);
  return { range, quote: touched[0] };
}

/** Prices of assets: at an instant, at a close, or touched within a window. */
export function priceFacts(market: MarketTexts): Facts | null {
  const statement = statementOf(market.title, market.eventTitle);
  const heading = `${statement} ${market.eventTitle}`;
  const asset =
    assetIn(words(heading.replaceAll(/\([^)]{0,40}\)/g, ' ')).join(' ')) ?? assetIn(words(heading).join(' '));
  if (
    !asset ||
    !PRICED.test(heading) ||
    /\b(?:fdv|market cap|up or down|reserve|etf|act|all[- ]time high|first|before it|or \$\d)\b/i.test(heading)
  )
    return null;
  const rule = decidingSentence(market.rules);
  const level = levelOf(market, statement, rule);
  const near = market.startsAtMs ?? market.endsAtMs;
  const nearDay = near === null ? null : dayInNewYork(near);
  if (!level) return null;
  const isTouch =
    TOUCHES.test(heading) ||
    /\bany\b.{0,80}\b(?:high|low)\b/i.test(rule) ||
    (/\bby\b/i.test(rule) && !CLOCK.test(statement) && /\bwhen\b/i.test(heading));
  const isClose = /\bclos(?:e|es|ing)\b/i.test(statement);
  const measure = isTouch ? (level.range.low === null ? 'low' : 'high') : isClose ? 'close' : 'instant';
  const shown = quote(statement);
  const about = topic(asset, measure, restOf(statement, level.quote, isTouch), shown);
  const base = {
    kind: 'price' as const,
    claim: {
      value: level.quote,
      quote: quote(rule || statement),
      of: { type: 'range' as const, range: withStep(withEdges(level.range, market.rules), stepOf(asset, level.range)) },
    },
    source: sourceOf(market, statement, measure === 'instant'),
    tails: [],
  };
  if (isTouch) {
    const stated = windowIn(rule, nearDay);
    const titled = windowIn(heading, nearDay);
    const { from, to: last } = windowOf(titled, stated);
    const to = last ?? (/\bthis year\b/i.test(heading) && nearDay ? `${Number(nearDay.slice(0, 4)) + 1}-01-01` : null);
    if (to === null) return null;
    return {
      ...base,
      topic: about,
      window: { from, to, quote: quote(stated.to ? rule : heading) },
    };
  }
  const day =
    datesIn(statement, nearDay).find((each) => each.unit === 'day') ??
    datesIn(rule, nearDay).find((each) => each.unit === 'day');
  if (!day) return null;
  const at = isClose
    ? msOfDay(day.from)
    : (clockIn(statement, day.from) ?? clockIn(rule, day.from) ?? exactEnd(market, day.from));
  if (at === null) return null;
  return {
    ...base,
    topic: { ...about, at: { value: new Date(at).toISOString(), quote: shown } },
    window: null,
  };
}

/** The end of the record, where it has a time of day and lies on the day of the title. */
function exactEnd(market: MarketTexts, day: string): number | null {
  const end = market.endsAtMs;
  if (end === null || end % DAY_MS === 0) return null;
  return dayInNewYork(end) === day || dayOf(end) === day || dayOf(end) === addDays(day, 1) ? end : null;
}

const topic = (asset: string, measure: string, rest: string, shown: string): Facts['topic'] => ({
  asset: { value: asset, quote: shown },
  measure: { value: measure, quote: shown },
  ...(rest === '' ? {} : { rest: { value: rest, quote: shown } }),
});

const LENGTHS: readonly (readonly [RegExp, number])[] = [
  [/\b5 ?-?m(?:in(?:ute)?s?)?\b/i, 5],
  [/\b15 ?-?m(?:in(?:ute)?s?)?\b/i, 15],
  [/\b30 ?-?m(?:in(?:ute)?s?)?\b/i, 30],
  [/\bhourly\b|\b1 ?h(?:our)?\b/i, 60],
  [/\b4 ?h(?:ours?)?\b/i, 240],
  [/\bdaily\b|\b1 day\b/i, 1440],
  [/\bweekly\b/i, 10_080],
];

/** Start and end, Unix ms. */
interface Span {
  fromMs: number;
  toMs: number;
}

/** The span between the two clock times of a statement. */
function clockSpan(statement: string, day: string | undefined): Span | null {
  const times = /(\d{1,2}(?::\d\d)? ?(?:am|pm)?) ?- ?(\d{1,2}(?::\d\d)? ?(?:am|pm)) ?(et|utc)/i.exec(statement);
  if (!day || !times) return null;
  const [, from = '', to = '', zone] = times;
  const half = /am|pm/i.exec(from) ? '' : (/am|pm/i.exec(to)?.[0] ?? '');
  const fromMs = clockIn(`${from}${half} ${zone}`, day);
  const toMs = clockIn(`${to} ${zone}`, day);
  return fromMs === null || toMs === null ? null : { fromMs, toMs: toMs > fromMs ? toMs : toMs + DAY_MS };
}

/** The window that ends at the time in a ticker; null if its date is wrong, undefined if the id is no such ticker. */
function tickerWindow(id: string, lengthMs: number | null): Span | null | undefined {
  const ticker = /^KX[A-Z]+?(15M|D|H)?-(\d{2})([A-Z]{3})(\d{2})(\d{2})(\d{2})?-/.exec(id);
  if (!ticker || lengthMs === null) return undefined;
  const [end] = datesIn(`${ticker[3]} ${ticker[4]}, 20${ticker[2]}`, null);
  if (!end) return null;
  const toMs = newYorkMs(end.from, Number(ticker[5]) * 60 + Number(ticker[6] ?? 0));
  return { fromMs: toMs - lengthMs, toMs };
}

/** The window from the clock time of a statement on; an hour if the statement has no length. */
function clockWindow(statement: string, day: string | undefined, lengthMs: number | null): Span | null {
  const fromMs = day ? clockIn(statement, day) : null;
  return fromMs === null ? null : { fromMs, toMs: fromMs + (lengthMs ?? HOUR_MS) };
}

/** Shorter candles give the prices that are compared. */
const SHORTEST_WINDOW_MINUTES = 5;

/** Whether the candle that the rules name, if any, may be the window: they may compare the ends of a shorter one. */
function isOfCandle({ rules }: MarketTexts, { fromMs, toMs }: Span): boolean {
  const minutes = candleMinutes(rules);
  const lengthMs = toMs - fromMs;
  if (minutes === null || minutes < SHORTEST_WINDOW_MINUTES || lengthMs >= DAY_MS) return true;
  return minutes * MINUTE_MS === lengthMs;
}

/** The times of the record, if they are as far apart as the statement says. */
function recordWindow({ startsAtMs, endsAtMs }: MarketTexts, lengthMs: number | null): Span | null {
  if (startsAtMs === null || endsAtMs === null || endsAtMs - startsAtMs !== lengthMs) return null;
  return { fromMs: startsAtMs, toMs: endsAtMs };
}

/** Noon to noon in New York is what "up or down on a day" means where no time is said. */
const noonToNoon = (day: string | undefined, lengthMs: number | null): Span | null =>
  day && lengthMs === null ? { fromMs: newYorkMs(addDays(day, -1), 720), toMs: newYorkMs(day, 720) } : null;

/** The window of at most an hour that contains the start of the record, or else the time in its slug or id. */
function startWindow({ startsAtMs, slug, id }: MarketTexts, lengthMs: number | null): Span | null {
  const begins = startsAtMs ?? (Number(/-(1\d{12})$/.exec(slug || id)?.[1] ?? Number.NaN) || null);
  if (lengthMs === null || lengthMs > HOUR_MS || begins === null) return null;
  const fromMs = begins - (begins % lengthMs);
  return { fromMs, toMs: fromMs + lengthMs };
}

/** The up-or-down window; null where the market does not say both its ends. */
function upDownWindow(market: MarketTexts, statement: string): Span | null {
  const near = market.endsAtMs ?? market.startsAtMs;
  const nearDay = near === null ? null : dayOf(near);
  const day =
    datesIn(statement, nearDay).find((each) => each.unit === 'day')?.from ??
    datesIn(market.slug.replaceAll('-', ' '), nearDay)[0]?.from;
  const minutes = LENGTHS.find(([pattern]) => pattern.test(statement))?.[1];
  const lengthMs = minutes === undefined ? null : minutes * MINUTE_MS;
  const between = clockSpan(statement, day);
  if (between) return between;
  const untilTicker = tickerWindow(market.id, lengthMs);
  if (untilTicker !== undefined) return untilTicker;
  return (
    clockWindow(statement, day, lengthMs) ??
    recordWindow(market, lengthMs) ??
    noonToNoon(day, lengthMs) ??
    startWindow(market, lengthMs)
  );
}

/** Whether a price is higher at the end of a window than at its beginning. */
export function upOrDownFacts(market: MarketTexts): Facts | null {
  const statement = statementOf(market.title, market.eventTitle) || market.slug.replaceAll('-', ' ');
  if (!/\bup or down\b|\bprice up in next\b/i.test(statement)) return null;
  const asset = assetIn(words(statement).join(' '));
  const window = upDownWindow(market, statement);
  if (!asset || !window || !isOfCandle(market, window)) return null;
  const shown = quote(statement);
  const source = sourceOf(market, statement, false);
  return {
    kind: 'up_or_down',
    topic: {
      asset: { value: asset, quote: shown },
      start: { value: new Date(window.fromMs).toISOString(), quote: shown },
      end: { value: new Date(window.toMs).toISOString(), quote: shown },
    },
    claim: { value: 'up', quote: shown, of: { type: 'act' } },
    window: null,
    source: source?.value === 'unnamed' ? null : source,
    tails: [],
  };
}
