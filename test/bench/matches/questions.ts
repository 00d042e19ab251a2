import type { MarketRecord, Platform } from '../../../src/core/model.ts';
import { market } from '../../helpers/market-store.ts';

/** Markets of one question: Kalshi's ticker, Polymarket's sentence, Limitless' group and child. */
type Question = (n: number) => { texts: Record<Platform, Asked>; category: string; tags: string[]; endMs: number };
interface Asked {
  id: string;
  title: string;
  rules: string;
  event?: string;
  outcomes?: [string, string];
}

const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2027, 0, 4);
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const LONG = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'long', day: 'numeric', year: 'numeric' });
const longDay = (ms: number): string => LONG.format(ms);
const tickerDay = (ms: number): string => {
  const day = new Date(ms);
  return `${day.getUTCFullYear() % 100}${MONTHS[day.getUTCMonth()]?.toUpperCase()}${String(day.getUTCDate()).padStart(2, '0')}`;
};
const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const SYLLABLES = 'bar cor del fen gal hol jun kar lem mor nel pol ros sal tor vel wes yar zin dra'.split(' ');
/** A name that no other number has. */
function nameOf(n: number): string {
  let [text, left] = ['', n];
  do {
    text += SYLLABLES[left % SYLLABLES.length];
    left = Math.floor(left / SYLLABLES.length);
  } while (left > 0);
  return `${text[0]?.toUpperCase()}${text.slice(1)}${n % 2 === 0 ? 'ton' : 'ville'}`;
}
const codeOf = (n: number): string => nameOf(n).slice(0, 3).toUpperCase();
const cents = (n: number): string => (40_000 + (n % 400) * 250).toLocaleString('en-US');

const game: Question = (n) => {
  const [home, away] = [nameOf(n % 600), nameOf(600 + ((n * 7) % 600))];
  const at = FIRST_MS + (n % 120) * DAY_MS + 20 * 3_600_000;
  const teams = `${codeOf(n % 600)}${codeOf(600 + ((n * 7) % 600))}`;
  return {
    texts: {
      kalshi: {
        id: `KXEPLGAME-${tickerDay(at)}${teams}-${codeOf(n % 600)}`,
        title: `${home} vs ${away} Winner? (${home})`,
        event: `${home} vs ${away}`,
        rules: `If ${home} wins the ${home} vs ${away} professional soccer game originally scheduled for ${longDay(at)}, then the market resolves to Yes.`,
      },
      polymarket: {
        id: `epl-${n}`,
        title: `Will ${home} FC win on ${isoDay(at)}?`,
        event: `${home} FC vs. ${away} FC`,
        rules: `In the upcoming game, scheduled for ${longDay(at)}, if ${home} FC wins, this market will resolve to "Yes". Otherwise, this market will resolve to "No".`,
      },
      limitless: {
        id: `${home.toLowerCase()}-${n}`,
        title: `EPL, ${home} vs ${away}, ${longDay(at)}: ${home}`,
        event: `EPL, ${home} vs ${away}, ${longDay(at)}`,
        rules: `This market resolves to Yes if ${home} wins against ${away} on ${longDay(at)}.`,
      },
    },
    category: 'Sports',
    tags: ['Soccer'],
    endMs: at,
  };
};

const price: Question = (n) => {
  const [asset, symbol] = [
    ['Bitcoin', 'BTC'],
    ['Ethereum', 'ETH'],
    ['Solana', 'SOL'],
    ['XRP', 'XRP'],
  ][n % 4] as [string, string];
  const at = FIRST_MS + (n % 90) * DAY_MS + 17 * 3_600_000;
  const level = cents(Math.floor(n / 90));
  const rules = `This market will resolve to "Yes" if the Binance 1 minute candle for ${symbol}/USDT 12:00 in the ET timezone on ${longDay(at)} has a final "Close" price above ${level}. Otherwise it resolves to "No".`;
  return {
    texts: {
      kalshi: {
        id: `KX${symbol}D-${tickerDay(at)}12-T${level.replaceAll(',', '')}`,
        title: `${asset} price on ${longDay(at)} at 12pm ET? ($${level} or above)`,
        rules: `If the simple average of the sixty seconds of CF Benchmarks' ${asset} Real-Time Index before 12 PM ET is above ${level} on ${longDay(at)}, then the market resolves to Yes.`,
      },
      polymarket: {
        id: `${symbol}-${n}`,
        title: `Will the price of ${asset} be above $${level} on ${longDay(at)}?`,
        rules,
      },
      limitless: {
        id: `${symbol.toLowerCase()}-above-${n}`,
        title: `$${symbol} above $${level} on ${longDay(at)}, 12:00 ET?`,
        rules,
      },
    },
    category: 'Crypto',
    tags: [asset],
    endMs: at,
  };
};

const election: Question = (n) => {
  const [person, place] = [`${nameOf(n)} ${nameOf(n * 3 + 1)}`, nameOf(Math.floor(n / 12))];
  const end = Date.UTC(2028, 10, 7);
  const rules = `This market resolves to Yes if ${person} wins the 2028 ${place} mayoral election. Otherwise it resolves to No.`;
  return {
    texts: {
      kalshi: {
        id: `KXMAYOR${codeOf(Math.floor(n / 12))}-28-${codeOf(n)}`,
        title: `Who will win the ${place} mayoral election? (${person})`,
        rules: `If ${person} wins the 2028 ${place} mayoral election, then the market resolves to Yes.`,
      },
      polymarket: { id: `mayor-${n}`, title: `Will ${person} win the 2028 ${place} mayoral election?`, rules },
      limitless: {
        id: `mayor-of-${n}`,
        title: `2028 ${place} Mayoral Election Winner: ${person}`,
        event: `2028 ${place} Mayoral Election Winner`,
        rules,
      },
    },
    category: 'Politics',
    tags: ['Elections'],
    endMs: end,
  };
};

const act: Question = (n) => {
  const [one, other] = [`${nameOf(n)} ${nameOf(n + 5)}`, nameOf(n * 5 + 2)];
  const end = FIRST_MS + (n % 300) * DAY_MS;
  const title = `Will ${one} visit ${other} by ${longDay(end)}?`;
  const rules = `This market resolves to Yes if ${one} visits ${other} by ${longDay(end)}, 11:59 PM ET. Otherwise it resolves to No.`;
  return {
    texts: {
      kalshi: {
        id: `KXVISIT${n}-27`,
        title: `Will ${one} visit ${other} before ${longDay(end + DAY_MS)}?`,
        rules: `If ${one} visits ${other} before ${longDay(end + DAY_MS)}, then the market resolves to Yes.`,
      },
      polymarket: { id: `visit-${n}`, title, rules },
      limitless: { id: `visit-${n}`, title, rules },
    },
    category: 'Politics',
    tags: ['World'],
    endMs: end,
  };
};

/** What no kind recognises, as a good part of every platform is. */
const other: Question = (n) => {
  const title = `Is ${nameOf(n)} better known than ${nameOf(n + 1)} among ${nameOf(n + 2)}?`;
  const asked = { id: `other-${n}`, title, rules: `The market asks about ${nameOf(n)}. `.repeat(12) };
  return {
    texts: { kalshi: asked, polymarket: asked, limitless: asked },
    category: 'Culture',
    tags: [],
    endMs: FIRST_MS + (n % 300) * DAY_MS,
  };
};

/** Half are sports and crypto, as on the platforms. */
const QUESTIONS = [game, game, game, price, price, price, election, act, act, other];
/** Platforms list different questions: of each platform's own, the others have every fourth. */
const SHARED = 4;

/** `count` markets in the shapes of a platform; the same numbers ask the same on every platform where they are shared. */
export function* questionsOf(platform: Platform, count: number): Generator<MarketRecord> {
  const own = { kalshi: 1, polymarket: 2, limitless: 3 }[platform] ?? 1;
  for (let at = 0; at < count; at += 1) {
    const n = at % SHARED === 0 ? at : at + own * 10 * count;
    const { texts, category, tags, endMs } = (QUESTIONS[at % QUESTIONS.length] ?? other)(n);
    const { id, title, rules, event, outcomes } = texts[platform];
    yield market({
      platform,
      ref: `${id}-${at}`,
      platformId: `${id}-${at}`,
      title,
      eventId: event ? `${event.replaceAll(' ', '-')}` : '',
      eventName: event ?? '',
      category,
      tags,
      resolutionCriteria: rules,
      resolutionDate: new Date(endMs).toISOString(),
      ...(outcomes
        ? { outcomes: outcomes.map((name, i) => ({ id: i === 0 ? 'yes' : 'no', name, tokenId: `${i}` })) }
        : {}),
    });
  }
}
