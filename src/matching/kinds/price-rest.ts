import { datesIn } from '../dates.ts';
import { rangeIn } from '../range.ts';
import { bagOf, withoutMentions } from '../statement.ts';
import { priceSourceIn, withoutAsset, withoutPriceSource } from '../tables/assets.ts';
import { WEEKDAYS, words } from '../text.ts';

/** A time of day, with its zone if it states one. */
export const CLOCK =
  /\b(\d{1,2})(?::(\d\d))? ?(am|pm)\b(?: ?(et|est|edt|utc|gmt))?|\b(\d{1,2}):(\d\d) ?(utc|gmt|et|est|edt)\b|\b(noon)\b(?: ?(et|est|edt|utc|gmt))?/i;

/** A text without its dates, clock times and spans. */
export function withoutDates(text: string): string {
  let rest = text.replaceAll(new RegExp(CLOCK.source, 'gi'), ' ');
  for (const { index, length } of datesIn(rest, '2026-01-01').toReversed())
    rest = rest.slice(0, index) + '~'.repeat(length) + rest.slice(index + length);
  return rest.replaceAll('~', ' ').replaceAll(/\btop \d+%|\bbottom \d+%|\b\d+ (?:minute|second|hour)s?\b/gi, ' ');
}

/** The source that a title names; null if it names none of the table. */
export const sourceInTitle = (statement: string): string | null =>
  priceSourceIn(words(/\baccording to (.{2,40})/i.exec(statement)?.[1] ?? '').join(' '));

/** What a title says of a price in words that no other field takes. */
const PLAIN = new Set(
  (
    'price prices value be reach reaches hit hits touch touches dip dips fall falls drop drops get gets go high low how close closes closing trade trading ' +
    'end day week month year range usd usdt usdc dollar dollars index stock shares share candle pm am et est edt utc gmt noon ath new record ever settle settles inc according'
  ).split(' '),
);

/** A clock time, with the word between it and its date. */
const CLOCK_OF_DATE = new RegExp(`(?:${CLOCK.source})(?:,? on(?= ))?`, 'gi');

/** A title without the dates of its window and the words before them; a stated beginning stays, because a window of a year has none. */
function withoutWindow(text: string): string {
  if (/\b(?:after|since)\b/i.test(text)) return text;
  const rest = text.replaceAll(CLOCK_OF_DATE, ' ').replaceAll(/ +/g, ' ');
  return withoutMentions(rest, datesIn(rest, '2026-01-01'));
}

/** What is left of a title without asset, level, dates, clock and source: "dominance", "in ETH", "first" ask something else. */
export function restOf(statement: string, level: string, isTouch: boolean): string {
  // The level may be that of the rules: the title then has its own words for it.
  const titled = rangeIn(statement)?.quote ?? level;
  const open = statement
    .replace(level, ' ')
    .replace(titled, ' ')
    .replaceAll(/\([^)]{0,40}\)/g, ' ');
  // "Before" and "by" a day state the window of a touch; of a price at an instant they ask something else.
  const bare = withoutDates(isTouch ? withoutWindow(open) : open);
  const named = withoutPriceSource(words(bare).join(' '), sourceInTitle(statement));
  const left = [...bagOf(withoutAsset(named))].filter(
    (word) => !PLAIN.has(word) && !WEEKDAYS.has(word) && !/^\d/.test(word),
  );
  const until = !isTouch && /\bby (?:the )?(?:end of )?(?:[a-z]{3,9}\.? )?\d/i.test(open) ? 'by' : '';
  return [...left, until, /[€£¥]/.exec(statement)?.[0] ?? ''].filter((word) => word !== '').join(' ');
}
