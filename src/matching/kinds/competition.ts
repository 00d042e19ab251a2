import type { Facts, MarketTexts } from '../facts.ts';
import { readStatement } from '../statement.ts';
import { quote, words } from '../text.ts';
import { AWARD, contest, MANY, stageRankOf, STAGE_WORDS, wordsWithout } from './contests.ts';

/** The forms of a competition, the most particular first: beside a cup or a tour, "championship" says no more. */
const FORMS: readonly (readonly string[])[] = [
  ['cup', 'tour'],
  ['team', 'singles'],
  ['championship', 'tournament'],
];
/** Tournaments whose title, championship or tournament is the same. */
const OPEN = /^(?:open|usopen|theopen|frenchopen|wimbledon|masters)$/;

/** The form of a competition, which a title may leave out: where two say it, it is the same. */
function formOf(bag: ReadonlySet<string>): string {
  const said = FORMS.map((forms) => forms.filter((word) => bag.has(word)).join(' '));
  const isOpen = [...bag].some((word) => OPEN.test(word));
  return said.slice(0, isOpen ? -1 : undefined).find((form) => form !== '') ?? '';
}

/** Words of a competition that say nothing about what is asked. */
const EMPTY: ReadonlySet<string> = new Set([
  ...FORMS.flat(),
  ...'company finish place season national s men mens final finals nation official stage end'.split(' '),
]);

const COMPETITION =
  /\b(?:champions?(?:hip)?|cup|league|finals?|tournament|open|grand prix|masters|playoffs?|title|trophy|pennant|world series|super bowl|group [a-l]|serie a|la ?liga|bundesliga|ligue 1|march madness|top \d+|tour de france|wimbledon|olympics?|medal|conference|division|best ai model|top ai model|relegat\w+|knockout|podium|ai model)\b/i;

/** The words of a rank, whose number asks nothing else. */
const RANK_WORDS = /\btop[ -]\d{1,2}\b|\bround of 16\b/i;

/** A conference by its league and side: the league may stand in the ticker or in the event alone. */
function conferenceOf(market: MarketTexts, heading: string): string[] | null {
  const side = /\b(east|west)ern conference\b/i.exec(heading)?.[1]?.toLowerCase();
  if (side === undefined) return null;
  const league =
    /\b(?:kx)?(nba|nhl|wnba|mls)|\bpro (?:basketball|hockey)\b|(?<!women's )\bnational (?:basketball association|hockey league)\b/i.exec(
      `${heading} ${market.id.split('-')[0]}`,
    );
  const name = league?.[1]?.toLowerCase() ?? (/basketball/i.test(league?.[0] ?? '') ? 'nba' : league ? 'nhl' : null);
  return name === null ? null : [`${name}${side}`];
}

const RACING = /\b(f1|formula 1|formula one|motogp|formula e|indycar|nascar)\b/i;

/** The series of a Grand Prix, which the rules or the ticker may say alone. */
function racingOf(market: MarketTexts, heading: string): string[] {
  if (!/\bgrand prix\b|\bgp\b/i.test(heading)) return [];
  const ticker = market.id.startsWith('KXF1') ? 'f1' : '';
  const series = RACING.exec(`${heading} ${ticker} ${market.rules.slice(0, 600)}`)?.[1]?.toLowerCase();
  return series === undefined ? [] : [/^formula (?:1|one)$/.test(series) ? 'f1' : series.replace(' ', '')];
}

/** Words that the name of a conference has in it. */
const OF_CONFERENCE =
  /^(?:(?:nba|nhl|wnba|mls)(?:west|east)?|western|eastern|conference|pro|basketball|hockey|champions?|title|league|national|association)$/;

/** Competitions: who wins, or how far one gets. */
export function competitionFacts(market: MarketTexts): Facts | null {
  const heading = `${market.title} ${market.eventTitle}`;
  if (!COMPETITION.test(heading) || / vs?\.? /i.test(heading) || AWARD.test(heading) || MANY.test(heading)) return null;
  const statement = readStatement(market);
  if (statement.name === null || / and /.test(statement.name) || statement.range) return null;
  const rank = stageRankOf(statement.text.replace(statement.name, ' '));
  if (rank === null) return null;
  const ruled = /\bwomen/i.test(`${market.rules} ${heading}`) ? ['women'] : [];
  const scored = /\b(?:scorer|goals?|assists?|contributions?|points?|mvp|golden (?:boot|glove))\b/i.test(heading)
    ? ['scored']
    : [];
  // The cup of a league is not the league.
  const cup = /\bleague cup\b/i.test(statement.text) ? ['leaguecup'] : [];
  // Two sports have a US Open.
  const sport = /\bu\.?s\.? open\b/i.test(heading)
    ? /\b(tennis|golf)\b/i.exec(
        `${heading} ${market.category} ${market.rules} ${market.id}`
          .replaceAll(/\b(?:atp|wta)\b|\bKX(?:ATP|WTA)[A-Z]*/gi, 'tennis')
          .replaceAll(/\bpga\b|\bKXPGA[A-Z]*/gi, 'golf'),
      )
    : null;
  const conference = conferenceOf(market, heading) ?? [];
  const own = [
    ...conference,
    ...[...statement.bag].filter((word) => conference.length === 0 || !OF_CONFERENCE.test(word)),
  ];
  const ranked = new Set(words(RANK_WORDS.exec(statement.text)?.[0] ?? ''));
  const bag = new Set(
    [...own, ...ruled, ...scored, ...cup, ...racingOf(market, heading), ...(sport ? [sport[0].toLowerCase()] : [])]
      .filter((word) => !STAGE_WORDS.has(word) && !ranked.has(word))
      .toSorted(),
  );
  const claim = { type: 'stage', name: statement.name, rank } as const;
  const facts = contest(market, 'competition', statement, wordsWithout(bag, EMPTY), claim);
  const form = formOf(bag);
  if (!facts || form === '') return facts;
  return { ...facts, topic: { ...facts.topic, form: { value: form, quote: quote(statement.text) } } };
}
