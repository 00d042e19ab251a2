import { dayOf } from '../../core/time.ts';
import { datesIn, type DateMention } from '../dates.ts';
import type { Facts, MarketTexts } from '../facts.ts';
import { bagOf, withEdges } from '../statement.ts';
import { placeIn } from '../tables/competitions.ts';
import { below, exactly, loneNumberIn, rangeIn, withStep, type Range } from '../range.ts';
import { decidingSentence, quote, WEEKDAYS, words } from '../text.ts';

/** A statistic that an office releases, and the step in which it is released. */
interface Series {
  name: string;
  step: number;
  pattern: RegExp;
}

/** Series, the narrower first: core before headline, yearly before monthly. Add a line. */
const SERIES: readonly Series[] = [
  { name: 'core cpi', step: 0.1, pattern: /\bcore (?:cpi|inflation|consumer price)/ },
  { name: 'core pce', step: 0.1, pattern: /\bcore pce/ },
  { name: 'pce', step: 0.1, pattern: /\bpce\b/ },
  { name: 'ppi', step: 0.1, pattern: /\bppi\b|\bproducer price/ },
  { name: 'cpi', step: 0.1, pattern: /\bcpi\b|\binflation\b|\bconsumer price/ },
  { name: 'unemployment', step: 0.1, pattern: /\bunemployment rate\b|\bunemployment\b/ },
  {
    name: 'payrolls',
    step: 1000,
    pattern: /\bjobs? (?:be )?added\b|\badd\b.*\bjobs\b|\bnon ?farm payrolls?\b|\bpayrolls\b|\bjobs report\b/,
  },
  { name: 'jobless claims', step: 1000, pattern: /\bjobless claims\b/ },
  { name: 'gdp', step: 0.1, pattern: /\bgdp\b/ },
  { name: 'retail sales', step: 0.1, pattern: /\bretail sales\b/ },
  { name: 'ism', step: 0.1, pattern: /\bism\b|\bpmi\b/ },
  { name: 'mortgage rate', step: 0.01, pattern: /\bmortgage rates?\b/ },
];

/** Words that a title of a release may have or not. */
const PLAIN = new Set(
  (
    'rate rates report data release released number index figure reading value be come increase increases rise rises fall falls decrease decreases decline grow grows growth change changes ' +
    'inflation unemployment payrolls jobs job added add adds month months monthly mom yoy annual annually annualized yearly over past last ending 12 twelve quarter quarterly real initial ' +
    'total nonfarm non farm u exactly all items urban consumers consumer price percent average national 30 year fixed many much ' +
    'economy advance estimate according'
  ).split(' '),
);

/** What a title says beside the series: a part of it, a place, another maker. */
function restOf(text: string, series: Series, stated: string, month: string): string {
  const own = rangeIn(text)?.quote ?? loneNumberIn(text)?.quote ?? '';
  const folded = words(text.replace(stated, ' ').replace(own, ' ')).join(' ').replace(series.pattern, ' ');
  return [...bagOf(folded.replaceAll(/\b(?:u s|usa?|united states|american)\b/g, ' '))]
    .filter((word) => !PLAIN.has(word) && !WEEKDAYS.has(word) && word !== month)
    .join(' ');
}

/** "The December unemployment rate" names its month without a preposition. */
const monthOf = ({ from, unit }: DateMention): string =>
  unit === 'month' ? new Date(from).toLocaleString('en', { month: 'long', timeZone: 'UTC' }).toLowerCase() : '';

/** "Released in December" names the month of the release, whose figure is that of an earlier one. */
const OF_RELEASE = /\b(?:released|published|reported) in\b/i;
const LATER = /\b(second|third|final) (?:estimate|reading|release|print)\b/i;

/** Which of the figures of one period the rules take, where it is not the first one. */
function estimateIn(text: string, isMonthly: boolean): string {
  const later = LATER.exec(text)?.[1]?.toLowerCase() ?? '';
  const revised = /\b(?:as revised|revised (?:figure|value|data))\b/i.test(text) ? 'revised' : '';
  const raw =
    isMonthly && /\b(?:(?:not|non)[ -]seasonally[ -]adjusted|before seasonal adjustment|unadjusted)\b/i.test(text)
      ? 'unadjusted'
      : '';
  return [later, revised, raw].filter((each) => each !== '').join(' ');
}

/** An index that rises in a month changes from the month before. */
const RISES_IN_MONTH =
  /\b(?:cpi|pce|ppi|consumer price index)\b.{0,40}\b(?:rise|rises|increase|increases|fall|falls|decrease|decreases)\b/;

/** Monthly or yearly change; '' where the text says neither. */
function basisIn(folded: string): string {
  if (
    /\b(?:yoy|year over year|year on year|annual|annually|12 months?|twelve months?|year ending|past year|last year|yearly)\b/.test(
      folded,
    )
  )
    return 'yearly';
  if (/\b(?:mom|month over month|month on month|monthly|in the month)\b/.test(folded)) return 'monthly';
  return RISES_IN_MONTH.test(folded) ? 'monthly' : '';
}

/** Economic releases: a series of an office for one period, in a range. */
export function releaseFacts(market: MarketTexts): Facts | null {
  const { title } = market;
  const heading = `${title} ${market.eventTitle}`;
  const folded = words(heading).join(' ');
  const series = SERIES.find(({ pattern }) => pattern.test(folded));
  if (!series || /\brecession\b|\bhow high\b|\bpeak\b|\bat any point\b/i.test(heading)) return null;
  const rule = decidingSentence(market.rules);
  const near = market.endsAtMs === null ? null : dayOf(market.endsAtMs);
  const period = datesIn(title, near)[0] ?? datesIn(market.eventTitle, near)[0] ?? datesIn(rule, near)[0];
  if (!period) return null;
  const child = title.split(': ').at(-1) ?? title;
  const bare = (text: string): string => withoutDates(text, near);
  const recorded = market.strike && { range: market.strike, quote: quote(rule || title) };
  const stated =
    recorded ?? rangeIn(bare(rule)) ?? rangeIn(bare(child)) ?? rangeIn(bare(title)) ?? valueIn(bare(child));
  if (!stated) return null;
  const shown = quote(title);
  const country = placeIn(heading) ?? placeIn(market.rules.slice(0, 600)) ?? 'us';
  const basis = basisIn(words(`${heading} ${rule}`).join(' ')) || basisIn(words(market.rules).join(' '));
  const isRate = series.step < 1;
  const named = series.pattern.test(words(title).join(' ')) ? title : heading;
  const rest = restOf(bare(named), series, stated.quote, monthOf(period));
  const estimate = estimateIn(`${title} ${market.rules}`, basis !== 'yearly');
  return {
    kind: 'release',
    topic: {
      series: { value: series.name, quote: shown },
      country: { value: country, quote: shown },
      period: {
        value: `${OF_RELEASE.test(title) ? 'released ' : ''}${period.from} ${period.unit === 'day' ? 'month' : period.unit}`,
        quote: shown,
      },
      ...(isRate && basis !== '' && series.name !== 'unemployment' ? { basis: { value: basis, quote: shown } } : {}),
      ...(rest === '' ? {} : { rest: { value: rest, quote: shown } }),
      ...(estimate === '' ? {} : { estimate: { value: estimate, quote: quote(rule || title) } }),
    },
    claim: {
      value: stated.quote,
      quote: quote(rule || title),
      of: { type: 'range', range: withStep(withEdges(stated.range, market.rules), isRate ? series.step : 1) },
    },
    window: null,
    source: null,
    tails: [],
  };
}

function valueIn(text: string): { range: Range; quote: string } | null {
  const lone = loneNumberIn(text);
  if (!lone) return null;
  return {
    range: /^<|^less|^below/i.test(text.trim()) ? below(lone.value, false) : exactly(lone.value),
    quote: lone.quote,
  };
}

function withoutDates(text: string, near: string | null): string {
  let rest = text.replaceAll(/\(?\bU-3\b\)?/gi, ' ');
  for (const { index, length } of datesIn(rest, near).toReversed())
    rest = `${rest.slice(0, index)} ${rest.slice(index + length)}`;
  return rest;
}
