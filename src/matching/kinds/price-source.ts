import type { Fact, MarketTexts } from '../facts.ts';
import { priceSourceIn } from '../tables/assets.ts';
import { decidingSentence, quote, words } from '../text.ts';
import { sourceInTitle } from './price-rest.ts';

/** The currency of a pair as "BTC/USDT" and "BTCUSDT" write it. */
const QUOTED = /\b[A-Z]{2,6}[/-](USDT|USDC|USD|EUR|GBP|JPY)\b|\b[A-Z]{3,5}?(USDT|USDC)\b/g;
const CANDLE = /\b(\d{1,2}|one)[ -]?(m|min|minute|h|hour|d|day)\b[^.]{0,20}\bcandles?\b/i;

/** The length of the candle that rules name first; null if they name none. */
export function candleMinutes(rules: string): number | null {
  const found = CANDLE.exec(rules);
  if (!found) return null;
  const count = found[1]?.toLowerCase() === 'one' ? 1 : Number(found[1]);
  const unit = found[2]?.charAt(0).toLowerCase();
  return count * (unit === 'd' ? 1440 : unit === 'h' ? 60 : 1);
}

/** What rules state of a price beside its source: the currency, and for one instant the candle that ends there. */
function termsIn(rules: string, isInstant: boolean): string {
  const named = new Set(Array.from(rules.matchAll(QUOTED), ([, pair, joined]) => (pair ?? joined)?.toLowerCase()));
  // Of several currencies one may be named as that which does not count.
  const currency = named.size === 1 ? [...named][0] : undefined;
  const minutes = isInstant ? candleMinutes(rules) : null;
  return `${currency === undefined ? '' : ` currency=${currency}`}${minutes === null ? '' : ` candle=${minutes}`}`;
}

/** Whether two sources are one, and no term differs that both state. */
export function isOneSource(a: string, b: string): boolean {
  const [one = '', ...terms] = a.split(' ');
  const [other = '', ...others] = b.split(' ');
  const stated = new Map(others.map((term) => [term.split('=')[0], term]));
  return one === other && terms.every((term) => (stated.get(term.split('=')[0]) ?? term) === term);
}

/** The price source: of the rules, else of the title; an index where rules name none, or where the ticker is of a series that settles on one. */
export function sourceOf(market: MarketTexts, statement: string, isInstant: boolean): Fact | null {
  const text = `${market.rules} ${market.resolutionSource}`.trim();
  const named = priceSourceIn(words(text).join(' '));
  if (named)
    return {
      value: `${named}${termsIn(market.rules, isInstant)}`,
      quote: quote(decidingSentence(market.rules) || market.resolutionSource),
    };
  const titled = sourceInTitle(statement);
  if (titled) return { value: titled, quote: quote(statement) };
  if (/^KX[A-Z]{2,6}(?:D|15M|MAX|MIN|MAXY|MINY|MAXMON|MINMON)?\d*-/.test(market.id))
    return { value: 'own-index', quote: market.id };
  return text === '' ? null : { value: 'unnamed', quote: quote(decidingSentence(market.rules)) };
}
