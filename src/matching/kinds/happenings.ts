import { dayOf } from '../../core/time.ts';
import { datesIn } from '../dates.ts';
import type { Facts, Kind, MarketTexts } from '../facts.ts';
import { exactly, rangeIn, withStep, type Range } from '../range.ts';
import { readStatement, withoutMentions, type Statement, bagOf } from '../statement.ts';
import { withTokens } from '../tables/competitions.ts';
import { quote, words } from '../text.ts';
import { scaleOf } from './weather-scale.ts';

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
const EMPTY = new Set('us next reach donald president ever'.split(' '));
/** Words that are empty beside one word: "a new all-time high", but "a new deal". */
const EMPTY_BESIDE: Readonly<Record<string, ReadonlySet<string>>> = {
  shutdown: new Set(['federal', 'government']),
  ath: new Set(['hit', 'new', 'record']),
};

/** Words without the empty ones. */
function filled(all: readonly string[]): string[] {
  const beside = new Set(all.flatMap((word) => [...(EMPTY_BESIDE[word] ?? [])]));
  return all.filter((word) => !EMPTY.has(word) && !beside.has(word));
}
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
  'visit strike invade meet confirm acquire resign announce release launch ban leave create pardon sign recognize join host impeach declare hold buy sell merge cut raise approve withdraw nominate appoint appear perform agree arrest convict indict attack sue sanction annex deport impose lift remove endorse'.split(
    ' ',
  ),
);
const baseOf = (word: string): string =>
  ['s', 'es', 'd', 'ed']
    .map((end) => (word.endsWith(end) ? word.slice(0, -end.length) : ''))
    .find((each) => VERBS.has(each)) ?? word;

/** Acts in which both take part alike, where no other act comes before them. */
const MUTUAL: ReadonlySet<string> = new Set('meet debate agreement deal ceasefire marry divorce merge'.split(' '));

/** Whether the first act of a text is one in which both take part alike: "endorse Moor in a deal" is none. */
function isMutual(text: string): boolean {
  const first = words(text)
    .map(baseOf)
    .find((word) => VERBS.has(word) || MUTUAL.has(word));
  return first !== undefined && MUTUAL.has(first);
}

/** "Norland signs a peace deal with Sudmark": both sign it. */
const SIGNS_WITH =
  /^(.{0,100}?) (signs?|agrees? to) ((?:(?:a|an|the|new|free|peace|trade|nuclear|security|defen[cs]e|arms|minerals|energy|bilateral|final|formal) ){0,4}(?:deal|agreement|ceasefire|treaty)) with (.{2,60}?)(?= (?:to|on|over|for|that|by|before|after)\b|[?,]| ?$)/i;
const withBoth = (text: string): string => text.replace(SIGNS_WITH, '$1 and $4 $2 $3');

/** Who acts: the words before the first verb. What is done to them is another act. */
function doersOf(text: string): string[] {
  const all = withTokens(words(text));
  const at = all.findIndex((word) => VERBS.has(baseOf(word)));
  const before = all.slice(0, Math.max(at, 0));
  const doers = [...bagOf(before.join(' '))].filter((word) => !EMPTY.has(word) || before.includes('and'));
  const own = doers.length === 0 && before.includes('us') ? ['us'] : doers;
  return /^(?:be|been|get|gets)$/.test(before.at(-1) ?? '') ? [...own, 'passive'] : own;
}

const nameWords = (statement: Statement): string[] => (statement.name === null ? [] : [...bagOf(statement.name)]);

function whoOf(statement: Statement): string[] {
  const bare = statement.text.replace(statement.range?.quote ?? '', ' ');
  const doers = doersOf(withBoth(withoutMentions(bare, datesIn(bare, '2026-01-01'))));
  return doers.length > 0 ? doers : filled(nameWords(statement));
}

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
  const who = kind === 'act' && !isMutual(statement.text) ? whoOf(statement) : [];
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
      of: range ? { type: 'range', range: withStep(range.range, stepOf(market, kind, range.range)) } : { type: 'act' },
    },
    window: hasWindow ? { ...statement.window, quote: quote(statement.rule || statement.text) } : null,
    source: station === null ? null : { value: station, quote: quote(market.rules) },
    tails: [],
  };
}

/** What falls is measured in inches or centimetres. */
const FALLS = /\b(?:rain|snow|inch|inches|cm|mm)/i;

/** What is counted has whole numbers; a level with decimals is of what is measured. */
const stepOf = (market: MarketTexts, kind: Kind, range: Range): number => {
  const { title, rules } = market;
  if (kind === 'weather' && !FALLS.test(title)) return /land-? ?ocean|global/i.test(`${title} ${rules}`) ? 0.01 : 1;
  const isWhole = [range.low, range.high].every((end) => end === null || Number.isInteger(end));
  return !isWhole || /\$|gross|box office|%|fdv|market cap|approval|rain|snow|magnitude/i.test(title) ? 0 : 1;
};

/** The degree that a title states without a comparator. */
function degreesIn(title: string): Statement['range'] {
  const match = /(?<![\d.-])(-?\d{1,3}) ?[°º] ?[CF]\b(?! ?(?:-|to|or|and)\b)/i.exec(title);
  return match ? { range: exactly(Number(match[1])), quote: match[0] } : null;
}

/** The second-hottest year, or one of three, is another question than the hottest. */
const RANKED =
  /\b(?:second|third|fourth|fifth|\d+(?:st|nd|rd|th)|one of|among|top)\b.{0,30}\b(?:hottest|warmest|coldest)\b|\brank/i;

const DEGREES = /\b(?:temp|temperature|hottest|warmest|coldest|degrees)\b|°/i;

/** Weather: a station's figure of a day, or the global temperature of a month or year. */
export function weatherFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!WEATHER.test(heading)) return null;
  const statement = readStatement(market);
  const near = market.endsAtMs === null ? null : dayOf(market.endsAtMs);
  const when = datesIn(market.title, near)[0] ?? datesIn(market.eventTitle, near)[0];
  if (!when) return null;
  if (RANKED.test(heading)) return null;
  const record = /\bhottest|warmest\b/i.test(heading) ? 'record' : '';
  const global = /land-? ?ocean|global/i.test(`${heading} ${market.rules}`) || record ? 'global' : '';
  const named = market.title === market.eventTitle ? market.title : `${market.title} ${market.eventTitle}`;
  const folded = withoutMentions(named, datesIn(named, near));
  const place = global
    ? ''
    : [...bagOf(folded.replace(rangeIn(folded)?.quote ?? '', ' '))]
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
  const unit = DEGREES.test(heading)
    ? scaleOf(`${heading} ${market.rules}`, record ? null : (range?.range ?? null), global !== '')
    : null;
  // What falls by a day is more than what falls on it.
  const until = /\b(?:by|before|until|through) $/i.test(market.title.slice(0, when.index)) ? 'until ' : '';
  return {
    ...facts,
    topic: {
      ...facts.topic,
      when: { value: `${until}${when.from} ${when.unit}`, quote: quote(market.title) },
      ...(unit ? { unit: { value: unit, quote: quote(market.title) } } : {}),
    },
  };
}

/** Mentions: whether somebody says a word at an occasion. */
export function mentionFacts(market: MarketTexts): Facts | null {
  if (!MENTION.test(`${market.title} ${market.eventTitle}`)) return null;
  const statement = readStatement(market);
  const said = /["']([^"']{1,60})["']/.exec(market.title)?.[1] ?? market.outcomeName;
  if (!said || (statement.window.to === null && market.startsAtMs === null)) return null;
  const speaker = nameWords(statement);
  const bag = new Set(filled([...statement.bag, ...speaker, ...words(said)]).toSorted());
  const facts = happening(market, 'mention', statement, [...bag].join(' '), true);
  return facts && { ...facts, topic: { ...facts.topic, said: { value: words(said).join(' '), quote: quote(said) } } };
}

/** Counts and figures: how many, how much, within a window. */
export function countFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!COUNT.test(heading) && !/\bhow (?:many|much)\b/i.test(market.rules)) return null;
  const statement = readStatement(market);
  if (!statement.range) return null;
  const bag = new Set(
    filled([...statement.bag, ...nameWords(statement)])
      .filter((word) => !/^(?:rotten|tomatoes|spacex|many|number)$/.test(word))
      .toSorted(),
  );
  // The opening of a film is one weekend, whenever it is.
  const hasWindow = statement.window.to !== null || !/\bopening\b/i.test(heading);
  return happening(market, 'count', statement, [...bag].join(' '), hasWindow);
}

/** "Until June 30" is the whole time until then, "by June 30" some day of it. */
const LASTS = /\b(?:through|until|till) (?:the )?(?:end of )?(?:[A-Z][a-z]{2,8}\b|\d)/;

/** Acts: something happens by a day, or it does not. */
export function actFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!ACT.test(heading)) return null;
  const statement = readStatement(market);
  if (statement.name === null && /^(?:who|which|what)\b/i.test(statement.text)) return null;
  const isToken = /\b(?:fdv|market cap)\b/i.test(heading);
  const end = market.endsAtMs === null ? null : dayOf(market.endsAtMs);
  const window = isToken && statement.window.to === null && end !== null ? { from: null, to: end } : statement.window;
  const said = filled([...statement.bag, ...nameWords(statement)]);
  const bag = new Set(said.map(baseOf).toSorted());
  const hasTitleContent = coversTitle(statement, bag);
  if (!hasTitleContent) return null;
  const read = happening(market, 'act', { ...statement, window }, [...bag].join(' '), window.to !== null);
  const lasts = LASTS.exec(statement.text)?.[0];
  const facts =
    read && lasts !== undefined ? { ...read, topic: { ...read.topic, lasts: { value: 'until', quote: lasts } } } : read;
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
