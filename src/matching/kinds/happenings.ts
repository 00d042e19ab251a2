import { dayOf } from '../../core/time.ts';
import { datesIn } from '../dates.ts';
import type { Facts, Kind, MarketTexts } from '../facts.ts';
import { exactly, withStep } from '../range.ts';
import { readStatement, withoutMentions, type Statement, bagOf } from '../statement.ts';
import { quote, words } from '../text.ts';

const WEATHER =
  /\b(?:temperature|hottest|warmest|coldest|rain(?:fall)?|snow(?:fall)?|hurricanes?|tornado(?:es)?|high temp|low temp)\b/i;
const MENTION = /\b(?:say|says|said|mention|mentions)\b/i;
const COUNT =
  /\b(?:how many|number of|launches|posts|tweets|views|streams|subscribers|tomatoes score|tomatometer|gross|box office|deportations|earthquakes|cases|executive orders|score|followers|downloads|sales|deliveries|approval rating)\b/i;
const ACT =
  /\b(?:visit|meet|meets|confirm|acquire|resign|resigns|out as|step down|announce|announces|announced|release|releases|released|launch|launches|ban|banned|leave|leaves|create|creates|pardon|pardons|declassify|sign|signed|become law|law|all[- ]time high|ath|fdv|market cap|recession|shutdown|ceasefire|invade|strike|recognizes?|join|joins|host|impeach|impeached|arrested|convicted|indicted|go on|declare|hold|buy|sell|ipo|merge|default|cut|raise|tariffs?|approve|approved|end|agree|agreement|deal|withdraw|nominate|nominated|appoint|appear|perform|play in|be the next|as next|divorce|marry|pregnant|die|land on|reach space)(?:s|es|d|ed)?\b/i;
/** Acts that are not each other: what is announced need not happen. */
const STEPS: readonly (readonly [RegExp, string])[] = [
  [/\bannounce[sd]?\b/i, 'announced'],
  [/\bnominat(?:e[sd]?|ion)\b/i, 'nominated'],
  [/\bsign(?:s|ed)?\b/i, 'signed'],
  [/\bcreate[sd]?\b/i, 'created'],
  [/\bhold(?:s|ings?)?\b|\bheld\b/i, 'held'],
  [/\bconfirm(?:s|ed)?\b/i, 'confirmed'],
  [/\bemergency\b/i, 'emergency'],
  [/\bcommut(?:e[sd]?|ation)\b/i, 'commuted'],
];
const EMPTY = new Set('us next reach hit win 25 bps donald president federal government new ever record'.split(' '));
const SOURCES =
  /\b(nasa|noaa|copernicus|office of personnel management|bureau of economic analysis|nber|silver bulletin|realclearpolitics|realclearpolling)\b/i;
/** Words of a station's name that do not distinguish it from others. */
const STATION_WORDS = new Set(
  'the airport international intl station regional weather ny il ca tx fl co pa wa'.split(' '),
);

/** The station that rules name, and who publishes its figure: two publishers of one station may differ. */
function stationOf(rules: string): string | null {
  const place = /\brecorded (?:at|in|by) (?:the )?([^,;.(]{3,60}?)(?= (?:station|in degrees|for|on|as)\b|[,;.(])/i.exec(
    rules,
  )?.[1];
  const publisher = /\b(wunderground|national weather service|accuweather|nasa|noaa|copernicus)\b/i.exec(rules)?.[1];
  const name = words(place ?? '').filter((word) => !STATION_WORDS.has(word));
  return name.length === 0 && !publisher ? null : [...name, publisher?.toLowerCase() ?? ''].join(' ').trim();
}

/** Verbs of acts, which titles write in either person: "recognizes" is "recognize". */
const VERBS = new Set(
  'visit strike invade meet confirm acquire resign announce release launch ban leave create pardon sign recognize join host impeach declare hold buy sell merge cut raise approve withdraw nominate appoint appear perform'.split(
    ' ',
  ),
);
const baseOf = (word: string): string =>
  ['s', 'es', 'd', 'ed']
    .map((end) => (word.endsWith(end) ? word.slice(0, -end.length) : ''))
    .find((each) => VERBS.has(each)) ?? word;

/** Acts in which both take part alike. */
const MUTUAL = /\b(?:meet|meets|debate|agree|agreement|deal|ceasefire|marry|divorce|merge)\b/i;

const nameWords = (statement: Statement): string[] => (statement.name === null ? [] : [...bagOf(statement.name)]);

function happening(
  market: MarketTexts,
  kind: Kind,
  statement: Statement,
  subject: string,
  hasWindow: boolean,
): Facts | null {
  const shown = quote(statement.text);
  const { range } = statement;
  const station =
    kind === 'weather' ? stationOf(market.rules) : (SOURCES.exec(market.rules)?.[1]?.toLowerCase() ?? null);
  const step = STEPS.filter(([pattern]) => pattern.test(statement.rule || statement.text)).map(([, word]) => word);
  if (subject.split(' ').length < 2 && range === null && subject !== 'shutdown') return null;
  const who =
    kind === 'act' && !MUTUAL.test(statement.text) ? nameWords(statement).filter((word) => !EMPTY.has(word)) : [];
  return {
    kind,
    topic: {
      subject: { value: subject, quote: shown },
      ...(who.length > 0 ? { who: { value: who.toSorted().join(' '), quote: shown } } : {}),
      ...(step.length > 0 && kind === 'act'
        ? { step: { value: step.join(' '), quote: quote(statement.rule || statement.text) } }
        : {}),
    },
    claim: {
      value: range?.quote ?? 'it happens',
      quote: quote(statement.rule || statement.text),
      of: range ? { type: 'range', range: withStep(range.range, stepOf(market, kind)) } : { type: 'act' },
    },
    window: hasWindow ? { ...statement.window, quote: quote(statement.rule || statement.text) } : null,
    source: station === null ? null : { value: station, quote: quote(market.rules) },
    tails: [],
  };
}

const stepOf = (market: MarketTexts, kind: Kind): number => {
  if (kind === 'weather') return /land-? ?ocean|global/i.test(`${market.title} ${market.rules}`) ? 0.01 : 1;
  return /\$|gross|box office|%|fdv|market cap/i.test(market.title) ? 0 : 1;
};

/** The degree that a title states without a comparator. */
function degreesIn(title: string): Statement['range'] {
  const match = /(?<![\d.-])(-?\d{1,3}) ?[°º] ?[CF]\b(?! ?(?:-|to|or|and)\b)/i.exec(title);
  return match ? { range: exactly(Number(match[1])), quote: match[0] } : null;
}

/** Weather: a station's figure of a day, or the global temperature of a month or year. */
export function weatherFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!WEATHER.test(heading)) return null;
  const statement = readStatement(market);
  const near = market.endsAtMs === null ? null : dayOf(market.endsAtMs);
  const when = datesIn(market.title, near)[0] ?? datesIn(market.eventTitle, near)[0];
  if (!when) return null;
  const record = /\bhottest|warmest\b/i.test(heading) ? 'record' : '';
  const global = /land-? ?ocean|global/i.test(`${heading} ${market.rules}`) || record ? 'global' : '';
  const named = market.title === market.eventTitle ? market.title : `${market.title} ${market.eventTitle}`;
  const folded = withoutMentions(named, datesIn(named, near));
  const place = global
    ? ''
    : [...bagOf(folded)]
        .filter((word) => !/^(?:high|highest|maximum|max|low|lowest|minimum|min|temperature|temp|f|c|\d+)$/.test(word))
        .join(' ');
  const side = /\b(?:low(?:est)?|min(?:imum)?)\b/i.test(heading) ? 'low' : 'high';
  const range = statement.range ?? degreesIn(market.title);
  if (record === '' && (!range || (global === '' && place === ''))) return null;
  const facts = happening(
    market,
    'weather',
    { ...statement, range: record ? null : range },
    [global || side, record, place, 'temperature'].filter((each) => each !== '').join(' '),
    false,
  );
  if (!facts) return null;
  return {
    ...facts,
    topic: { ...facts.topic, when: { value: `${when.from} ${when.unit}`, quote: quote(market.title) } },
  };
}

/** Mentions: whether somebody says a word at an occasion. */
export function mentionFacts(market: MarketTexts): Facts | null {
  if (!MENTION.test(`${market.title} ${market.eventTitle}`)) return null;
  const statement = readStatement(market);
  const said = /["']([^"']{1,60})["']/.exec(market.title)?.[1] ?? market.outcomeName;
  if (!said || (statement.window.to === null && market.startsAtMs === null)) return null;
  const speaker = nameWords(statement);
  const bag = new Set([...statement.bag, ...speaker, ...words(said)].filter((word) => !EMPTY.has(word)).toSorted());
  return happening(market, 'mention', statement, [...bag].join(' '), true);
}

/** Counts and figures: how many, how much, within a window. */
export function countFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!COUNT.test(heading) && !/\bhow (?:many|much)\b/i.test(market.rules)) return null;
  const statement = readStatement(market);
  if (!statement.range) return null;
  const bag = new Set(
    [...statement.bag, ...nameWords(statement)]
      .filter((word) => !EMPTY.has(word) && !/^(?:rotten|tomatoes|spacex|many|number)$/.test(word))
      .toSorted(),
  );
  // The opening of a film is one weekend, whenever it is.
  const hasWindow = statement.window.to !== null || !/\bopening\b/i.test(heading);
  return happening(market, 'count', statement, [...bag].join(' '), hasWindow);
}

/** Acts: something happens by a day, or it does not. */
export function actFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!ACT.test(heading)) return null;
  const statement = readStatement(market);
  if (statement.name === null && /^(?:who|which|what)\b/i.test(statement.text)) return null;
  const isToken = /\b(?:fdv|market cap)\b/i.test(heading);
  const end = market.endsAtMs === null ? null : dayOf(market.endsAtMs);
  const window = isToken && statement.window.to === null && end !== null ? { from: null, to: end } : statement.window;
  const said = [...statement.bag, ...nameWords(statement)].filter((word) => !EMPTY.has(word));
  const bag = new Set(said.map(baseOf).toSorted());
  const hasTitleContent = coversTitle(statement, bag);
  if (!hasTitleContent) return null;
  const facts = happening(market, 'act', { ...statement, window }, [...bag].join(' '), window.to !== null);
  const { year } = statement;
  if (!facts || window.to !== null) return facts;
  // What has no window is of the year that the title or the ticker names.
  if (!year || year.isWeak) return null;
  return { ...facts, topic: { ...facts.topic, year: { value: year.value, quote: quote(year.quote) } } };
}

/** Whether the rules speak of what the title says: at least half of its words, or there are no rules. */
function coversTitle(statement: Statement, bag: ReadonlySet<string>): boolean {
  if (statement.rule === '' || bag.size === 0) return true;
  const ruled = bagOf(statement.rule);
  // "Shut down" is "shutdown".
  const joined = words(statement.rule).join('');
  const shared = [...bag].filter(
    (word) =>
      [...ruled].some((each) => each === word || (word.length > 4 && each.startsWith(word.slice(0, 5)))) ||
      (word.length > 7 && joined.includes(word)),
  );
  return shared.length * 2 >= bag.size;
}
