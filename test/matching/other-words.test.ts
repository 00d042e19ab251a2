import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const lakers = (side: string): Some => ({
  id: `KXNBAGAME-27JAN15LALGSW-${side}`,
  title: 'Los Angeles L at Golden State Winner?',
  eventTitle: 'Los Angeles L at Golden State',
});
const nba = (title: string, more: Some = {}): Some => ({
  title,
  eventTitle: 'Lakers vs. Warriors',
  starts: '2027-01-16T03:00:00Z',
  category: 'NBA',
  ...more,
});
const game = (title: string, starts: string, category: string, outcomes: string[] = []): Some => ({
  title,
  eventTitle: title,
  starts,
  category,
  outcomes,
});
const alcaraz: Some = {
  id: 'KXATPMATCH-27JAN20ALCSIN-ALC',
  title: 'Will Carlos Alcaraz win the Alcaraz vs Sinner: Semifinal match?',
  eventTitle: 'Alcaraz vs Sinner',
};
const arsenal = (title: string, eventTitle: string): Some => ({
  title,
  eventTitle,
  starts: '2027-01-20T15:00:00Z',
  category: 'soccer',
});
const by = (title: string, rules: string, ends: string): Some => ({ title, rules, ends });

const CASES: readonly Case[] = [
  ['a team by its nickname alone', lakers('GSW'), nba('Lakers vs. Warriors'), 'complement'],
  [
    'a start at midnight UTC may be the evening before',
    { id: 'KXNHLGAME-26NOV29TORMTL-MTL', title: 'Toronto at Montreal Winner?', eventTitle: 'Toronto at Montreal' },
    game('Maple Leafs vs. Canadiens', '2026-11-30T00:00:00Z', 'NHL', ['Maple Leafs', 'Canadiens']),
    'complement',
  ],
  [
    'the slug says on which of two nights a game is',
    lakers('LAL'),
    nba('Lakers vs. Warriors', { starts: '2027-01-15T00:00:00Z', slug: 'nba-lal-gsw-2027-01-14' }),
    'unknown',
  ],
  [
    'a team that is called as what others count',
    { id: 'KXWNBAGAME-27JUN10LVANYL-NYL', title: 'Las Vegas at New York Winner?', eventTitle: 'Las Vegas at New York' },
    game('Aces vs. Liberty', '2027-06-10T23:00:00Z', 'WNBA', ['Aces', 'Liberty']),
    'complement',
  ],
  [
    'a college and its team',
    {
      id: 'KXNCAAFGAME-26NOV28OSUMICH-MICH',
      title: 'Ohio State at Michigan Winner?',
      eventTitle: 'Ohio State at Michigan',
    },
    game('Ohio State Buckeyes vs. Michigan Wolverines', '2026-11-28T17:00:00Z', 'cfb football', [
      'Ohio State Buckeyes',
      'Michigan Wolverines',
    ]),
    'complement',
  ],
  [
    'Michigan is not Michigan State',
    {
      id: 'KXNCAAMBGAME-27JAN30MICHOSU-MICH',
      title: 'Michigan at Ohio State Winner?',
      eventTitle: 'Michigan at Ohio State',
    },
    game('Michigan State Spartans vs. Ohio State Buckeyes', '2027-01-30T23:30:00Z', 'ncaab basketball'),
    'unknown',
  ],
  [
    'the game of the women is another one',
    {
      id: 'KXNCAAWBGAME-27JAN30DUKEUNC-DUKE',
      title: 'Duke at North Carolina Winner?',
      eventTitle: 'Duke at North Carolina',
    },
    game('Duke Blue Devils vs. North Carolina Tar Heels', '2027-01-30T23:30:00Z', 'ncaab basketball'),
    'unknown',
  ],
  [
    'a match of three games ends decided',
    {
      id: 'KXLOLGAME-27JAN22T1GEN-GEN',
      title: 'Will Gen.G win the T1 vs. Gen.G League of Legends match?',
      eventTitle: 'T1 vs. Gen.G',
    },
    game('LoL: T1 vs Gen.G (BO3)', '2027-01-22T08:00:00Z', 'esports', ['T1', 'Gen.G']),
    'complement',
  ],
  [
    'the Indian Premier League is not the English one',
    {
      id: 'KXIPLGAME-27APR02MICSK-MI',
      title: 'Mumbai Indians vs Chennai Super Kings Winner?',
      eventTitle: 'Mumbai Indians vs Chennai Super Kings',
    },
    game('Indian Premier League: Mumbai Indians vs Chennai Super Kings', '2027-04-02T14:00:00Z', 'cricket', [
      'Mumbai Indians',
      'Chennai Super Kings',
    ]),
    'identical',
  ],
  [
    'a player meets another opponent the next day',
    alcaraz,
    game('Australian Open: Carlos Alcaraz vs. Novak Djokovic', '2027-01-21T08:30:00Z', 'tennis', [
      'Alcaraz',
      'Djokovic',
    ]),
    'unknown',
  ],
  [
    'one set is not the match',
    alcaraz,
    {
      ...game('Set 1 Winner: Carlos Alcaraz vs. Jannik Sinner', '2027-01-20T08:30:00Z', 'tennis'),
      outcomes: ['Alcaraz', 'Sinner'],
    },
    'overlap',
  ],
  [
    'a side that both games share makes no pair of the others',
    arsenal('Will Manchester City FC win on 2027-01-20?', 'Manchester City FC vs. Arsenal FC'),
    arsenal(
      'EPL, Manchester United vs Arsenal, Jan 20, 2027: Manchester United',
      'EPL, Manchester United vs Arsenal, Jan 20, 2027',
    ),
    'unknown',
  ],
  [
    'a total of one team is not that of both',
    nba('Lakers vs. Warriors: Lakers O/U 112.5'),
    nba('Lakers vs. Warriors: O/U 225.5'),
    'overlap',
  ],
  [
    'a blank in the title that its end fills',
    { title: 'Ethereum above 3,300 on January 20?', rules: 'Binance ETH/USDT 12:00 ET', ends: '2027-01-20T17:00:00Z' },
    {
      title: 'Ethereum above ___ on January 20?: 3,400',
      rules: 'Binance ETH/USDT 12:00 ET',
      ends: '2027-01-20T17:00:00Z',
    },
    'superset',
  ],
  [
    'a meeting of a month without a year',
    by(
      'Bank of England decreases Bank Rate by 25 bps after February meeting?',
      'decreases Bank Rate by 25 basis points',
      '2027-02-05T00:00:00Z',
    ),
    {
      id: 'KXBOEDECISION-27FEB-C25',
      title: 'Will the Bank of England Cut rates by 25bps at their February 2027 meeting?',
      rules: 'If the Bank of England does a Cut of 25bps on February 5, 2027, then the market resolves to Yes.',
    },
    'identical',
  ],
  [
    'a term begins in the year after the election',
    {
      id: 'KXSENATEGA-26-D',
      title: 'Will Democrats win the Senate race in Georgia?',
      rules:
        'If a representative of the Democratic party is sworn in as Senator of Georgia for the term beginning in 2027, then the market resolves to Yes.',
      ends: '2027-02-01T00:00:00Z',
    },
    by('Will the Democrats win the Georgia Senate race in 2026?', '', '2026-11-03T00:00:00Z'),
    'identical',
  ],
  [
    'a majority of the House by either word',
    { id: 'CONTROLH-2026-D', title: 'Will Democrats win the House in 2026?' },
    { title: 'Will the Democratic Party control the House after the 2026 Midterm elections?' },
    'identical',
  ],
  [
    'the most seats of a chamber, which stands before or after them',
    { title: 'Will the Democrats win the most seats in the House in 2026?' },
    { title: 'Will the Democratic Party win the most House seats in the 2026 elections?' },
    'identical',
  ],
  [
    'the most seats of the other chamber',
    { title: 'Will the Democrats win the most Senate seats in 2026?' },
    { title: 'Will the Democratic Party win the most House seats in the 2026 elections?' },
    'unknown',
  ],
  [
    'the House is not the Senate',
    by('Will the Democrats win the House in 2026?', '', '2026-11-03T00:00:00Z'),
    by('Will the Democrats win the Senate in 2026?', '', '2026-11-03T00:00:00Z'),
    'unknown',
  ],
  [
    'the next holder of an office is one, however long markets run',
    by('Will Andy Burnham be the next Prime Minister of the United Kingdom?', '', '2029-12-31T00:00:00Z'),
    {
      id: 'KXNEXTUKPM-30-ABUR',
      title: 'Who will be the next Prime Minister of the United Kingdom? (Andy Burnham)',
      outcomeName: 'Andy Burnham',
      ends: '2030-01-01T00:00:00Z',
    },
    'identical',
  ],
  [
    'out of an office, and leaving it',
    by(
      'Pete Hegseth out as Secretary of Defense by March 31?',
      'Yes if Pete Hegseth ceases to be Secretary of Defense by March 31, 2027.',
      '2027-03-31T00:00:00Z',
    ),
    by(
      'Will Pete Hegseth leave office as Secretary of Defense before Apr 1, 2027?',
      'If Pete Hegseth leaves his position as Secretary of Defense before Apr 1, 2027, then the market resolves to Yes.',
      '2027-04-01T00:00:00Z',
    ),
    'identical',
  ],
  [
    'an x between two sides',
    by('Russia x Ukraine ceasefire by March 31, 2027?', '', '2027-03-31T00:00:00Z'),
    by('Ceasefire between Russia and Ukraine by March 31, 2027?', '', '2027-03-31T00:00:00Z'),
    'identical',
  ],
  [
    'a ceasefire of another side',
    by('Israel x Hamas ceasefire by March 31, 2027?', '', '2027-03-31T00:00:00Z'),
    by('Israel x Hezbollah ceasefire by March 31, 2027?', '', '2027-03-31T00:00:00Z'),
    'unknown',
  ],
  [
    'the number of a ceremony beside its year',
    by(
      'Will Hamnet win Best Picture at the Oscars?',
      'If Hamnet wins Best Picture at the 2027 Academy Awards',
      '2027-03-14T00:00:00Z',
    ),
    by(
      'Will "Hamnet" win Best Picture at the 99th Academy Awards?',
      'Academy Award for Best Picture at the 2027 ceremony',
      '2027-03-14T00:00:00Z',
    ),
    'identical',
  ],
  [
    'an award whose league stands in the ticker',
    { id: 'KXNBAMVP-27-SGA', title: 'Will Shai Gilgeous-Alexander win the 2026-27 MVP?' },
    by('Will Shai Gilgeous-Alexander win the 2026–27 NBA MVP?', '', '2027-06-30T00:00:00Z'),
    'identical',
  ],
  [
    'the award of another league',
    by('Will Josh Allen win the 2026-27 NFL MVP?', '', '2027-02-10T00:00:00Z'),
    by('Will Josh Allen win the 2026-27 NBA MVP?', '', '2027-06-10T00:00:00Z'),
    'unknown',
  ],
  [
    'two sports with one name of a tournament',
    { title: 'Will Carlos win the 2027 US Open?', eventTitle: "2027 Men's US Open Winner", category: 'tennis' },
    { title: 'Will Carlos win the 2027 US Open?', eventTitle: '2027 US Open Winner', category: 'golf' },
    'unknown',
  ],
  [
    'a place that the event alone names',
    {
      title: 'Will the maximum temperature be >40° on Jan 20, 2027?',
      eventTitle: 'Highest temperature in Chicago on Jan 20, 2027?',
      rules: 'recorded at Chicago Midway',
    },
    by(
      'Will the highest temperature in Chicago be 41°F or higher on January 20?',
      'recorded at Chicago Midway',
      '2027-01-20T12:00:00Z',
    ),
    'identical',
  ],
  [
    'a span of two dates with a dash',
    by('Will Elon Musk post 300-319 tweets from January 12 to January 19, 2027?', '', '2027-01-19T17:00:00Z'),
    by('Elon Musk # tweets January 12 - January 19, 2027?: 300-319', '', '2027-01-19T17:00:00Z'),
    'identical',
  ],
  [
    'verbs in either person, and "before" the day after "by"',
    by('Will the US recognize Somaliland by June 30?', '', '2027-06-30T00:00:00Z'),
    by('US recognizes Somaliland before July 1, 2027?', '', '2027-07-01T00:00:00Z'),
    'identical',
  ],
  [
    'a new high with a hyphen or without',
    by('Ethereum all time high by June 30?', '', '2027-06-30T00:00:00Z'),
    by('Will Ethereum hit a new all-time high by June 30, 2027?', '', '2027-06-30T00:00:00Z'),
    'identical',
  ],
  [
    'the next speaker, named in the title or beside it',
    by('Will Hakeem Jeffries be the next Speaker of the House?', '', '2027-01-31T00:00:00Z'),
    { title: 'Who will be the next Speaker of the House? (Hakeem Jeffries)', outcomeName: 'Hakeem Jeffries' },
    'identical',
  ],
  [
    'a nomination for an office is not the office',
    by('Will Kevin Hassett be the next Fed chair?', '', '2027-05-31T00:00:00Z'),
    by('Will Trump nominate Kevin Hassett as the next Fed chair?', '', '2027-05-31T00:00:00Z'),
    'unknown',
  ],
  [
    'two teams without named outcomes: the first one wins',
    game('Counter-Strike: FaZe vs MOUZ (BO3)', '2027-06-05T12:00:00Z', 'esports', ['FaZe', 'MOUZ']),
    game('CS2: FaZe vs MOUZ, Jun 5, 2027', '2027-06-05T12:00:00Z', 'esports'),
    'identical',
  ],
  [
    'the end of a month is its last day',
    by('Will NVIDIA be the largest company in the world by market cap on January 31?', '', '2027-01-31T00:00:00Z'),
    by('Largest company in the world by market cap end of January?: NVIDIA', '', '2027-01-31T00:00:00Z'),
    'identical',
  ],
];

test.each(CASES)('%s', (_name, a, b, relation) => {
  expect(relationOf(a, b)).toBe(relation);
  expect(relationOf(b, a)).toBe(mirrored(relation));
});
