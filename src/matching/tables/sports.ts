/** A league of games: its sport, and the words and ticker parts that name it. */
interface League {
  sport: string;
  names: readonly string[];
}

/** Leagues: `league|sport|names and ticker parts`, one a line. Add a line. */
const LEAGUES: ReadonlyMap<string, League> = new Map(
  `ipl|cricket|ipl|indian premier league|kxipl
  mlb|baseball|mlb|kxmlb
  nba|basketball|nba|kxnba
  wnba|basketball|wnba|kxwnba
  wsl|soccer|women s super league|kxwsl
  nfl|football|nfl|kxnfl
  nhl|hockey|nhl|kxnhl
  ncaab|basketball|kxncaamb|ncaab|cbb
  ncaaf|football|kxncaaf|cfb
  russia|soccer|russian premier league
  ukraine|soccer|ukrainian premier league
  scotland|soccer|scottish premiership|scottish premier league
  saudi|soccer|saudi pro league|saudi premier league|kxsaudipl
  uel|soccer|europa league|uel|kxuelgame
  uecl|soccer|conference league|uecl|kxueclgame
  eredivisie|soccer|eredivisie|kxeredivisie
  portugal|soccer|primeira liga|liga portugal|kxligaportugal
  turkey|soccer|super lig|kxsuperlig
  ligamx|soccer|liga mx|kxligamx
  brazil|soccer|brasileirao|brazil serie a|kxbrasileiro
  argentina|soccer|argentine primera|kxargpremdiv
  facup|soccer|fa cup|kxfacup
  efl|soccer|efl championship|kxeflchampionship
  epl|soccer|epl|premier league|kxepl
  laliga|soccer|laliga|la liga|kxlaliga
  seriea|soccer|serie a|kxseriea
  bundesliga|soccer|bundl|bundesliga|kxbundesliga
  ligue1|soccer|ligue 1|kxligue1
  ucl|soccer|champions league|ucl|kxucl
  nwsl|soccer|nwsl|kxnwsl
  uwcl|soccer|women s champions league|kxuwcl
  mls|soccer|mls|kxmls
  worldcup|soccer|world cup|kxwcgame
  ufc|mma|ufc|kxufc
  boxing|boxing|boxing|kxboxing
  atp|tennis|atp|kxatp
  wta|tennis|wta|kxwta
  pfl|mma|pfl|bellator
  cs2|esports|counter strike|cs2|csgo|cs go|kxcs2
  wildrift|esports|wild rift
  lol|esports|league of legends|lol|lck|lpl|lec|lcs|kxlol
  dota2|esports|dota 2|dota2|kxdota2
  rocketleague|esports|rocket league
  r6|esports|rainbow six|r6|kxr6
  overwatch|esports|overwatch|kxow
  mlbb|esports|mobile legends|mlbb
  kings|esports|honor of kings
  starcraft|esports|starcraft
  cod|esports|call of duty|cdl|kxcod
  valorant|esports|valorant|vct|kxvalorant`
    .split('\n')
    .map((line) => {
      const [league = '', sport = '', ...names] = line.trim().split('|');
      return [league, { sport, names }] as const;
    }),
);

/** The names of a league, and its own. */
export const namesOfLeague = (league: string): readonly string[] => [league, ...(LEAGUES.get(league)?.names ?? [])];

const SPORTS = [
  'baseball',
  'basketball',
  'football',
  'hockey',
  'soccer',
  'mma',
  'boxing',
  'tennis',
  'esports',
  'cricket',
];

/** The game of esports that a folded text names first. */
export function esportIn(folded: string): string | null {
  const text = ` ${folded} `;
  const found = [...LEAGUES]
    .filter(([, { sport }]) => sport === 'esports')
    .flatMap(([league, { names }]) => names.map((name) => ({ league, at: text.indexOf(` ${name} `) })))
    .filter(({ at }) => at !== -1);
  return found.toSorted((one, other) => one.at - other.at)[0]?.league ?? null;
}

/** The league that a folded text names, with its sport; the sport alone where only that is named. */
export function leagueIn(folded: string): { league: string | null; sport: string | null } {
  const text = ` ${folded} `;
  for (const [league, { sport, names }] of LEAGUES) {
    const isNamed = names.some((name) =>
      name.startsWith('kx') ? text.includes(` ${name}`) : text.includes(` ${name} `),
    );
    if (isNamed) return { league, sport };
  }
  return { league: null, sport: SPORTS.find((sport) => text.includes(` ${sport} `)) ?? null };
}

/** Sports whose games never end drawn, as markets of a winner count them. */
const DECIDED = new Set(['baseball', 'basketball', 'football', 'hockey', 'mma', 'boxing', 'tennis']);
/** Whether two teams may meet on one day in several games of the sport, which the league then names. */
export const hasSeveralGames = (sport: string | null): boolean => sport === 'esports';

/** Sports in which two teams may meet on successive days. */
const DAILY = new Set(['baseball', 'basketball', 'hockey', 'esports', 'cricket']);

/** A match of an odd number of games ends decided. */
const ODD_GAMES = /\b(?:bo ?|best of )[1357]\b/;

export const mayBeDrawn = (sport: string | null, league: string | null, folded: string): boolean =>
  sport === null || !(DECIDED.has(sport) || league === 'ipl' || ODD_GAMES.test(folded));
export const mayRepeatNextDay = (sport: string | null): boolean => sport === null || DAILY.has(sport);

/** Whether a period is one of two whole games of a day. */
export const isOneOfTwo = (sport: string | null, period: string): boolean =>
  sport === 'baseball' && period.startsWith('game_');

/** Words of a club's name that do not distinguish it from others. */
const GENERIC = new Set(
  'fc cf afc sc sv rc rcd cd ud ac as ssc ss us sd ca cfc bk if fk nk club de la le the of calcio fsv vfb vfl tsg bsc balompie futbol football and'.split(
    ' ',
  ),
);
export const clubWords = (folded: string): string[] => {
  const all = folded.split(' ').filter((word) => !/^\d+$/.test(word));
  const own = all.filter((word) => !GENERIC.has(word));
  return own.length > 0 ? own : all;
};

/** Periods of a game: `period|phrases`, the narrower first. */
const PERIODS: readonly (readonly [string, RegExp])[] = [
  ['first_inning', /\b(?:first|1st) inning\b/],
  ['first_5_innings', /\bfirst (?:5|five) innings\b|\bf5\b/],
  ['first_half', /\b(?:first|1st) half\b|\bhalf ?time\b|\b1h\b/],
  ['second_half', /\b(?:second|2nd) half\b|\b2h\b/],
  ['quarter_1', /\b(?:first|1st) quarter\b|\b1q\b|\bq1\b/],
  ['quarter_2', /\b(?:second|2nd) quarter\b|\b2q\b/],
  ['quarter_3', /\b(?:third|3rd) quarter\b|\b3q\b/],
  ['quarter_4', /\b(?:fourth|4th) quarter\b|\b4q\b/],
  ['period_1', /\b(?:first|1st) period\b/],
  ['period_2', /\b(?:second|2nd) period\b/],
  ['period_3', /\b(?:third|3rd) period\b/],
  ['regulation', /\b(?:regulation|90 minutes? plus)\b/],
  ['overtime', /\b(?:overtime|extra time|penalty shootout|penalties)\b/],
];
const PART = /\b(map|game|set|inning) (\d)\b(?! ?(?:vs|\+))/;
const NTH = ['first', 'second', 'third', 'fourth', 'fifth'];
const NTH_PART = /\b(first|second|third|fourth|fifth|[1-5](?:st|nd|rd|th)) (map|game|set)\b/;

/** "The second set" is set 2. */
const numbered = (folded: string): string =>
  folded.replace(NTH_PART, (_, nth: string, part: string) => `${part} ${NTH.indexOf(nth) + 1 || nth.charAt(0)}`);

/** A folded title without the words that name its period. */
export function withoutPeriod(folded: string): string {
  let rest = numbered(folded).replace(PART, ' ');
  for (const [, pattern] of PERIODS) rest = rest.replace(pattern, ' ');
  return rest;
}

const SERIES_SPORTS = new Set(['basketball', 'hockey', 'football', 'soccer']);

/** The part of the game that a folded title is about; 'full' if it names none. */
export function periodIn(folded: string, sport: string | null): string {
  const found = PERIODS.find(([, pattern]) => pattern.test(folded));
  if (found) return found[0];
  const part = PART.exec(numbered(folded));
  // In a series of playoffs a number names the game itself.
  const isOfSeries = part?.[1] === 'game' && sport !== null && SERIES_SPORTS.has(sport);
  // Esports call one part a map or a game.
  const name = hasSeveralGames(sport) && part?.[1] === 'game' ? 'map' : part?.[1];
  return part && !isOfSeries ? `${name}_${part[2]}` : 'full';
}

const EXTRA = '(?:extra[ -]time|overtime)';
const COUNTS_EXTRA = new RegExp(
  `(?<!\\bnot )\\b(?:includ(?:es?|ing)|counting) (?:any |(?:stoppage|injury|added) time,? and )?${EXTRA}\\b|\\b${EXTRA} (?:is |will be )?(?:counts?|included)\\b`,
  'i',
);
const LEAVES_EXTRA = new RegExp(
  `\\b(?:exclud(?:es?|ing)|not (?:includ(?:e|ing)|count(?:ing)?)) (?:any )?${EXTRA}\\b(?! shoot)|\\b${EXTRA}[^.;,]{0,20} (?:not (?:count|be (?:counted|included)|included)|excluded)\\b|\\bregulation(?: time)? only\\b|\\bonly (?:in )?regulation\\b`,
  'i',
);

/** What rules leave out of extra time, which counts without it. */
const BUT_SHOOTOUT =
  /,? (?:but |and )?(?:not|no|excluding|without) (?:the |any )?(?:penalt(?:y|ies)|shoot-?outs?)[^,]*/gi;
const NEGATION = /\b(?:no|not|never|without|neither|nor|ignored|excluded|excluding|disregarded)\b|n't\b/i;

/** Whether a sentence of the rules says that extra time counts. */
const countsExtra = (rules: string): boolean =>
  rules
    .split(/[.;\n]/)
    .map((sentence) => sentence.replaceAll(BUT_SHOOTOUT, ''))
    .some((sentence) => COUNTS_EXTRA.test(sentence) && !NEGATION.test(sentence));

/** How long a whole game is by its rules: 'full' is the usual length, which has no extra time in soccer and has it elsewhere. */
export function lengthByRules(rules: string, sport: string | null): string {
  const [isIn, isOut] = [countsExtra(rules), LEAVES_EXTRA.test(rules)];
  if (isIn === isOut) return 'full';
  if (sport === 'soccer') return isIn ? 'with_extra_time' : 'full';
  return isOut && sport !== null ? 'regulation' : 'full';
}

const METRICS =
  /\b(corners?|cards|bookings?|shots|saves|assists|rebounds|strikeouts?|hits|home runs?|fouls|offsides|aces|kills|rounds|sets|maps|touchdowns?|penalties|passing|rushing|receiving|yards|steals|blocks|threes|three pointers?|double double|player)\b/;

/** What a line counts: 'score' unless the folded title names something else. */
export function metricIn(folded: string): string {
  const found = METRICS.exec(folded.replaceAll('first to score', ''));
  return found?.[1] ? found[1].replace(/s$/, '') : 'score';
}
