import { MINUTE_MS, dayOf, DAY_MS } from '../../core/time.ts';
import { addDays, datesIn, dayInNewYork, msOfDay, newYorkMs, windowIn } from '../dates.ts';
import type { Facts, MarketTexts } from '../facts.ts';
import { above, below, rangeIn, withStep, type Range } from '../range.ts';
import { withEdges } from '../statement.ts';
import { assetIn, priceSourceIn } from '../tables/assets.ts';
import { decidingSentence, quote, statementOf, words } from '../text.ts';

const CLOCK =
  /\b(\d{1,2})(?::(\d\d))? ?(am|pm)\b(?: ?(et|est|edt|utc|gmt))?|\b(\d{1,2}):(\d\d) ?(utc|gmt|et|est|edt)\b|\b(noon)\b(?: ?(et|est|edt|utc))?/i;
const TOUCHES =
  /\b(?:reach|hit|touch|dip|fall to|drop to|get to|how high|how low|all[- ]time high|ath|high of|low of)\b/i;
const LOW = /\b(?:dip|fall|drop|how low|low)\b/i;
const PRICED =
  /\b(?:price|close|closes|above|below|between|reach|hit|dip|fall|drop|less than|greater than|at or above|how high|how low)\b/i;
const STRIKE = /-T(\d{1,9}(?:\.\d{1,6})?)$/;
/** Cents: the finest step in which prices of such markets are stated. */
const PRICE_STEP = 0.01;

/** A clock time of a text, in ms of its day; null without one. */
function clockIn(text: string, day: string): number | null {
  const match = CLOCK.exec(text);
  if (!match) return null;
  const [, h12, m12, half, zone12, h24, m24, zone24, noon, zoneNoon] = match;
  const hour = noon ? 12 : h24 ? Number(h24) : (Number(h12) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0);
  const minutes = hour * 60 + Number(m24 ?? m12 ?? 0);
  const zone = (zone12 ?? zone24 ?? zoneNoon ?? 'et').toLowerCase();
  return zone === 'utc' || zone === 'gmt' ? msOfDay(day) + minutes * 60_000 : newYorkMs(day, minutes);
}

/** The level: as the deciding sentence, the title or the ticker states it. */
function levelOf(market: MarketTexts, statement: string, rule: string): { range: Range; quote: string } | null {
  if (market.strike) return { range: market.strike, quote: quote(rule || statement) };
  const strike = STRIKE.exec(market.id)?.[1];
  if (strike !== undefined) return { range: above(Number(strike), false), quote: market.id };
  const arrow = /([↑↓]) ?\$?(\d{1,9}(?:,\d{3}){0,3}(?:\.\d{1,6})?)/.exec(statement);
  if (arrow) {
    const value = Number((arrow[2] ?? '').replaceAll(',', ''));
    return { range: arrow[1] === '↑' ? above(value, true) : below(value, true), quote: arrow[0] };
  }
  const stated = rangeIn(withoutDates(rule)) ?? rangeIn(withoutDates(statement));
  if (stated) return stated;
  const touched =
    /\b(?:reach|hit|touch|dip to|fall to|drop to|to) \$?(\d{1,9}(?:,\d{3}){0,3}(?:\.\d{1,6})?) ?(k|m)?\b/i.exec(
      statement,
    );
  if (!touched) return null;
  const value =
    Number((touched[1] ?? '').replaceAll(',', '')) * (touched[2]?.toLowerCase() === 'k' ? 1e3 : touched[2] ? 1e6 : 1);
  const range: Range = LOW.test(statement) ? below(value, true) : above(value, true);
  return { range, quote: touched[0] };
}

function withoutDates(text: string): string {
  let rest = text.replaceAll(new RegExp(CLOCK.source, 'gi'), ' ');
  for (const { index, length } of datesIn(rest, '2026-01-01').toReversed())
    rest = rest.slice(0, index) + '~'.repeat(length) + rest.slice(index + length);
  return rest.replaceAll('~', ' ').replaceAll(/\btop \d+%|\bbottom \d+%|\b\d+ (?:minute|second|hour)s?\b/gi, ' ');
}

/** The price source: of the rules; an index where rules name none, or where the ticker is of a series that settles on one. */
function sourceOf(market: MarketTexts): { value: string; quote: string } | null {
  const text = `${market.rules} ${market.resolutionSource}`.trim();
  const named = priceSourceIn(words(text).join(' '));
  if (named) return { value: named, quote: quote(decidingSentence(market.rules) || market.resolutionSource) };
  if (/^KX[A-Z]{2,6}(?:D|15M|MAX|MIN|MAXY|MINY|MAXMON|MINMON)?\d*-/.test(market.id))
    return { value: 'own-index', quote: market.id };
  return text === '' ? null : { value: 'unnamed', quote: quote(decidingSentence(market.rules)) };
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
  const base = {
    kind: 'price' as const,
    claim: {
      value: level.quote,
      quote: quote(rule || statement),
      of: { type: 'range' as const, range: withStep(withEdges(level.range, market.rules), PRICE_STEP) },
    },
    source: sourceOf(market),
    tails: [],
  };
  if (isTouch) {
    const stated = windowIn(rule, nearDay);
    const titled = windowIn(heading, nearDay);
    const to =
      stated.to ??
      titled.to ??
      (/\bthis year\b/i.test(heading) && nearDay ? `${Number(nearDay.slice(0, 4)) + 1}-01-01` : null);
    if (to === null) return null;
    const from = titled.from ?? stated.from;
    return {
      ...base,
      topic: topic(asset, measure, shown),
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
    topic: { ...topic(asset, measure, shown), at: { value: new Date(at).toISOString(), quote: shown } },
    window: null,
  };
}

/** The end of the record, where it has a time of day and lies on the day of the title. */
function exactEnd(market: MarketTexts, day: string): number | null {
  const end = market.endsAtMs;
  if (end === null || end % DAY_MS === 0) return null;
  return dayInNewYork(end) === day || dayOf(end) === day || dayOf(end) === addDays(day, 1) ? end : null;
}

const topic = (asset: string, measure: string, shown: string) => ({
  asset: { value: asset, quote: shown },
  measure: { value: measure, quote: shown },
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

/** Start and end of an up-or-down window, ms; null where the market does not say both. */
function upDownWindow(market: MarketTexts, statement: string): { fromMs: number; toMs: number } | null {
  const near = market.endsAtMs ?? market.startsAtMs;
  const slugDay = datesIn(market.slug.replaceAll('-', ' '), near === null ? null : dayOf(near))[0]?.from;
  const day =
    datesIn(statement, near === null ? null : dayOf(near)).find((each) => each.unit === 'day')?.from ?? slugDay;
  const spans = /(\d{1,2}(?::\d\d)? ?(?:am|pm)?) ?- ?(\d{1,2}(?::\d\d)? ?(?:am|pm)) ?(et|utc)/i.exec(statement);
  if (day && spans) {
    const half = /am|pm/i.exec(spans[1] ?? '') ? '' : (/am|pm/i.exec(spans[2] ?? '')?.[0] ?? '');
    const fromMs = clockIn(`${spans[1]}${half} ${spans[3]}`, day);
    const toMs = clockIn(`${spans[2]} ${spans[3]}`, day);
    if (fromMs !== null && toMs !== null) return { fromMs, toMs: toMs > fromMs ? toMs : toMs + 1440 * MINUTE_MS };
  }
  const ticker = /^KX[A-Z]+?(15M|D|H)?-(\d{2})([A-Z]{3})(\d{2})(\d{2})(\d{2})?-/.exec(market.id);
  const length = LENGTHS.find(([pattern]) => pattern.test(statement))?.[1] ?? null;
  if (ticker && length !== null) {
    const [end] = datesIn(`${ticker[3]} ${ticker[4]}, 20${ticker[2]}`, null);
    const toMs = end ? newYorkMs(end.from, Number(ticker[5]) * 60 + Number(ticker[6] ?? 0)) : null;
    return toMs === null ? null : { fromMs: toMs - length * MINUTE_MS, toMs };
  }
  const clock = day ? clockIn(statement, day) : null;
  if (clock !== null) return { fromMs: clock, toMs: clock + (length ?? 60) * MINUTE_MS };
  if (
    market.startsAtMs !== null &&
    market.endsAtMs !== null &&
    length !== null &&
    market.endsAtMs - market.startsAtMs === length * MINUTE_MS
  ) {
    return { fromMs: market.startsAtMs, toMs: market.endsAtMs };
  }
  // Noon to noon in New York is what "up or down on a day" means where no time is said.
  if (day && length === null) return { fromMs: newYorkMs(addDays(day, -1), 720), toMs: newYorkMs(day, 720) };
  const begins = market.startsAtMs ?? (Number(/-(1\d{12})$/.exec(market.slug || market.id)?.[1] ?? Number.NaN) || null);
  if (length === null || length > 60 || begins === null) return null;
  const fromMs = begins - (begins % (length * MINUTE_MS));
  return { fromMs, toMs: fromMs + length * MINUTE_MS };
}

/** Whether a price is higher at the end of a window than at its beginning. */
export function upOrDownFacts(market: MarketTexts): Facts | null {
  const statement = statementOf(market.title, market.eventTitle) || market.slug.replaceAll('-', ' ');
  if (!/\bup or down\b|\bprice up in next\b/i.test(statement)) return null;
  const asset = assetIn(words(statement).join(' '));
  const window = upDownWindow(market, statement);
  if (!asset || !window) return null;
  const shown = quote(statement);
  const source = sourceOf(market);
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
