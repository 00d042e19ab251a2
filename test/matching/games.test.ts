import { expect, test } from 'vitest';
import { factsOf, judge } from '../../src/matching/judge.ts';
import { mirrored, relationOf, texts, type Case, type Some } from './pair.ts';

const ticker = (suffix: string): Some => ({
  id: `KXMLBGAME-27JUN041910SEAMIN-${suffix}`,
  title: 'Seattle vs Minnesota Winner?',
  eventTitle: 'Seattle vs Minnesota',
  starts: '2027-06-04T23:10:00Z',
});
const named = (title: string, more: Some = {}): Some => ({
  title,
  eventTitle: 'Seattle Mariners vs. Minnesota Twins',
  starts: '2027-06-04T23:10:00Z',
  category: 'baseball',
  ...more,
});
const soccer = (title: string): Some => ({
  title,
  eventTitle: 'Leeds United FC vs. Brentford FC',
  starts: '2027-02-13T15:00:00Z',
  category: 'soccer',
});
const group = (child: string): Some => ({
  title: `EPL, Leeds vs Brentford, Feb 13, 2027: ${child}`,
  eventTitle: `EPL, Leeds vs Brentford, Feb 13, 2027: Draw`,
  starts: '2027-02-13T15:00:00Z',
});

const ostheim = (title: string): Some => ({
  title,
  eventTitle: 'Tarn FC vs. Ostheim FC',
  starts: '2027-03-06T15:00:00Z',
  category: 'soccer',
});
const doubleheader = (clock: string, nth: string): Some => ({
  id: `KXMLBGAME-27JUN12${clock}NYYBOS${nth}-NYY`,
  title: 'New York Y vs Boston Winner?',
  eventTitle: 'New York Y vs Boston',
});
const evening = (nth: string): Some => ({
  title: `New York Yankees vs. Boston Red Sox${nth}`,
  eventTitle: `New York Yankees vs. Boston Red Sox${nth}`,
  outcomes: ['New York Yankees', 'Boston Red Sox'],
  starts: '2027-06-12T23:05:00Z',
  category: 'MLB',
});
const norland: Some = {
  id: 'KXT20MATCH-27MAR06NORSUD-NOR',
  title: 'Norland vs Sudmark Winner?',
  eventTitle: 'Norland vs Sudmark',
  category: 'cricket',
};
const cricket = (title: string): Some => ({
  title,
  eventTitle: 'Norland vs Sudmark',
  starts: '2027-03-06T20:00:00Z',
  category: 'cricket',
});
const nbaGame = (title: string): Some => ({
  title,
  eventTitle: 'Suns vs. Bucks',
  outcomes: title.startsWith('Will') ? [] : ['Suns', 'Bucks'],
  starts: '2027-01-17T01:00:00Z',
  category: 'NBA',
});

/** Games, and titles that ask who wins them in other words. */
const SAME_GAMES: readonly (readonly [
  usual: string,
  outcomes: string[],
  category: string,
  titles: readonly string[],
])[] = [
  [
    'LoL: Owls vs Foxes (BO5)',
    ['Owls', 'Foxes'],
    'esports',
    [
      'LoL: Owls vs Foxes (BO5) - NLC: Playoffs',
      'LoL: Owls vs Foxes (BO5) - NLC Cup: Group Stage',
      'LoL: Owls vs Foxes (BO5) - NLC: Round 1',
      'LoL: Owls vs Foxes (BO5) | NLC',
    ],
  ],
  [
    'UFC 401: Moreau vs. Diaz',
    ['Moreau', 'Diaz'],
    'mma',
    [
      'UFC 401 - Moreau vs. Diaz',
      'Moreau vs. Diaz - UFC 401',
      'Moreau vs. Diaz (UFC 401)',
      'UFC 401: Moreau vs. Diaz - Middleweight Title',
      'UFC 401: Moreau vs. Diaz (Flyweight, Main Card)',
      'UFC 401 - Moreau vs. Diaz - Main Event',
    ],
  ],
  [
    'Norland Open: Karl Lindt vs. Ivan Moravec',
    ['Karl Lindt', 'Ivan Moravec'],
    'tennis',
    [
      'Karl Lindt vs. Ivan Moravec (Final)',
      'Karl Lindt vs. Ivan Moravec: Final',
      'Karl Lindt vs. Ivan Moravec: Semi-Finals',
      'Karl Lindt vs. Ivan Moravec - Round of 16',
      'Karl Lindt vs. Ivan Moravec - Round 2',
      'Karl Lindt vs. Ivan Moravec (Norland Open)',
      'Karl Lindt vs. Ivan Moravec - Norland Open, Final',
    ],
  ],
  [
    'Bills vs. Jets',
    ['Bills', 'Jets'],
    'NFL',
    [
      'Bills vs. Jets (Sunday Night Football)',
      'Bills vs. Jets - Week 14',
      'Bills vs. Jets - AFC Championship',
      'Bills vs. Jets, Dec 9 (Week 14)',
    ],
  ],
  [
    'Norland vs Sudmark',
    ['Norland', 'Sudmark'],
    'cricket',
    ['Norland vs Sudmark, Match 12', 'Norland vs Sudmark - T20 International', 'Norland vs Sudmark, 12th Match'],
  ],
];

const CASES: readonly Case[] = [
  ...SAME_GAMES.flatMap(([usual, outcomes, category, titles]) =>
    titles.map((title): Case => {
      const more = { outcomes, category, starts: '2028-12-09T18:00:00Z' };
      return [
        `a game in other words: ${title}`,
        { title: usual, eventTitle: usual, ...more },
        { title, eventTitle: title, ...more },
        'identical',
      ];
    }),
  ),
  ...['Suns vs Bucks, Jan 16: Will the Suns win?', 'NBA: Suns vs Bucks, Jan 16: Will the Suns win?'].flatMap((title) =>
    ['', title].map((eventTitle): Case => [
      `a title alone with its day before a colon: ${title}`,
      { id: 'KXNBAGAME-27JAN16PHXMIL-PHX', title: 'Phoenix at Milwaukee Winner?', eventTitle: 'Phoenix at Milwaukee' },
      { title, eventTitle, category: 'NBA', ends: '2027-01-17T04:00:00Z' },
      'identical',
    ]),
  ),
  ...['Round 1', 'Championship Rounds', 'To Lift the Cup', 'Final Exchange', 'Week 14 Points'].map((part): Case => {
    const fight = { outcomes: ['Moreau', 'Diaz'], category: 'mma', starts: '2028-12-09T18:00:00Z' };
    const [title, more] = ['UFC 401: Moreau vs. Diaz', `UFC 401: Moreau vs. Diaz - ${part}`];
    return [
      `a part at the end asks for more: ${part}`,
      { title, eventTitle: title, ...fight },
      { title: more, eventTitle: more, ...fight },
      /Rounds|Lift/.test(part) ? 'overlap' : 'unknown',
    ];
  }),
  [
    'the first team of a ticker is the first outcome',
    ticker('SEA'),
    named('Seattle Mariners vs. Minnesota Twins'),
    'identical',
  ],
  [
    'the second team of a ticker is the other outcome',
    ticker('MIN'),
    named('Seattle Mariners vs. Minnesota Twins'),
    'complement',
  ],
  [
    'named outcomes in the other order turn the polarity',
    ticker('SEA'),
    named('Minnesota Twins vs. Seattle Mariners', { eventTitle: '' }),
    'complement',
  ],
  [
    'the next game of a series is another game',
    ticker('SEA'),
    named('Seattle Mariners vs. Minnesota Twins', { starts: '2027-06-05T23:10:00Z' }),
    'unknown',
  ],
  [
    'a late game belongs to its day in New York',
    { ...ticker('SEA') },
    named('Seattle Mariners vs. Minnesota Twins', { starts: '2027-06-05T02:10:00Z' }),
    'identical',
  ],
  ['covering -1.5 implies the win', ticker('MIN'), named('Spread: Minnesota Twins (-1.5)'), 'superset'],
  ['covering +1.5 follows from the win', ticker('MIN'), named('Spread: Minnesota Twins (+1.5)'), 'subset'],
  [
    'the spread of the one excludes the win of the other',
    ticker('SEA'),
    named('Spread: Minnesota Twins (-1.5)'),
    'disjoint',
  ],
  ['a total is not a winner', ticker('SEA'), named('Seattle Mariners vs. Minnesota Twins: O/U 8.5'), 'overlap'],
  [
    'a run in the first inning is not a winner',
    ticker('SEA'),
    named('Will there be a run scored in the first inning?: Seattle Mariners vs. Minnesota Twins'),
    'overlap',
  ],
  [
    'minus 1.5 and plus 1.5 of the two teams are complements',
    named('Spread: Minnesota Twins (-1.5)'),
    named('Spread: Seattle Mariners (+1.5)'),
    'complement',
  ],
  ['a team by name and date', soccer('Will Leeds United FC win on 2027-02-13?'), group('Leeds'), 'identical'],
  ['the draw', soccer('Will Leeds United FC vs. Brentford FC end in a draw?'), group('Draw'), 'identical'],
  [
    'a win excludes the draw, and where games end drawn no team is the complement of the other',
    soccer('Will Brentford FC win on 2027-02-13?'),
    group('Leeds'),
    'disjoint',
  ],
  [
    '3+ goals are over 2.5',
    soccer('Leeds United FC vs. Brentford FC: O/U 2.5'),
    { title: 'Leeds vs Brentford: 3+ total goals?', starts: '2027-02-13T15:00:00Z' },
    'identical',
  ],
  [
    'over 3.5 is inside 3+',
    soccer('Leeds United FC vs. Brentford FC: O/U 3.5'),
    { title: 'Leeds vs Brentford: 3+ total goals?', starts: '2027-02-13T15:00:00Z' },
    'subset',
  ],
  [
    'corners are not goals',
    soccer('Leeds United FC vs. Brentford FC: O/U 2.5 Total Corners'),
    { title: 'Leeds vs Brentford: 3+ total goals?', starts: '2027-02-13T15:00:00Z' },
    'overlap',
  ],
  [
    'both teams to score',
    soccer('Leeds United FC vs. Brentford FC: Both Teams to Score'),
    { title: 'Both Leeds and Brentford score on February 13?', starts: '2027-02-13T15:00:00Z' },
    'identical',
  ],
  ...[
    'Leeds to win and both teams to score',
    'Both teams to score and over 2.5 goals',
    'Both teams to score: Leeds wins',
  ].map((title): Case => [
    `more than that both teams score: ${title}`,
    soccer(title),
    { title: 'Both Leeds and Brentford score on February 13?', starts: '2027-02-13T15:00:00Z' },
    'overlap',
  ]),
  [
    'an exact score implies the total',
    soccer('Exact Score: Leeds United FC 3 - 1 Brentford FC?'),
    { title: 'Leeds vs Brentford: 3+ total goals?', starts: '2027-02-13T15:00:00Z' },
    'subset',
  ],
  [
    'a first half is not a match',
    {
      ...soccer('Leeds United FC vs. Brentford FC: Draw at halftime?'),
      eventTitle: 'Leeds United FC vs. Brentford FC - Halftime Result',
    },
    group('Draw'),
    'overlap',
  ],
  [
    'halftime is the first half',
    {
      ...soccer('Leeds United FC vs. Brentford FC: Draw at halftime?'),
      eventTitle: 'Leeds United FC vs. Brentford FC - Halftime Result',
    },
    {
      id: 'KXEPL1H-27FEB13LEEBRE-TIE',
      title: 'Will Tie win the 1st Half?',
      eventTitle: 'Leeds vs Brentford: First Half Winner',
    },
    'identical',
  ],
  [
    'another match of the same day has the same words',
    soccer('Will Leeds United FC vs. Brentford FC end in a draw?'),
    { title: 'EPL, Fulham vs Burnley, Feb 13, 2027: Draw', starts: '2027-02-13T15:00:00Z' },
    'unknown',
  ],
  [
    "the women's teams are other teams",
    soccer('Will Leeds United FC win on 2027-02-13?'),
    {
      title: 'Leeds Women vs Brentford Women, Feb 13, 2027: Leeds Women',
      starts: '2027-02-13T15:00:00Z',
      category: 'soccer',
    },
    'unknown',
  ],
  [
    'a fight: family names stand for the fighters',
    {
      id: 'KXUFCFIGHT-27MAR06MORDIA-DIA',
      title: 'Will Lena Diaz win the Moreau vs Diaz professional MMA fight scheduled for Mar 6, 2027?',
      eventTitle: 'UFC 400: Moreau vs Diaz',
    },
    {
      title: 'UFC 400: Claire Moreau vs. Lena Diaz (Flyweight, Main Card)',
      eventTitle: 'UFC 400: Claire Moreau vs. Lena Diaz (Flyweight, Main Card)',
      starts: '2027-03-06T00:00:00Z',
      category: 'mma',
    },
    'complement',
  ],
  [
    'a match of a round is not a part of it',
    {
      id: 'KXATPMATCH-27JUL04LINMOR-MOR',
      title: 'Will Ivan Moravec win the Lindt vs Moravec: Round Of 16 match?',
      eventTitle: 'Lindt vs Moravec',
    },
    { title: 'Wimbledon: Karl Lindt vs Ivan Moravec', starts: '2027-07-04T12:00:00Z', category: 'tennis' },
    'complement',
  ],
  [
    'one map is not the match',
    {
      title: 'Counter-Strike: Alpha vs Omega - Map 1 Winner',
      starts: '2027-05-04T12:00:00Z',
      outcomes: ['Alpha', 'Omega'],
    },
    { title: 'Counter-Strike: Alpha vs Omega (BO3)', starts: '2027-05-04T12:00:00Z', outcomes: ['Alpha', 'Omega'] },
    'overlap',
  ],
  [
    'advancing is not winning the match',
    { ...soccer('Leeds United FC to advance?'), eventTitle: 'Leeds United FC vs. Brentford FC: To Advance' },
    group('Leeds'),
    'overlap',
  ],
  [
    'the goals of one team are not those of both',
    soccer('Leeds United FC vs. Brentford FC: Leeds United FC O/U 1.5'),
    soccer('Leeds United FC vs. Brentford FC: O/U 1.5'),
    'subset',
  ],
  [
    'a margin of 2 or more is over 1.5',
    soccer('Spread: Brentford FC (-1.5)'),
    { title: 'Will Brentford win by 2+ goals?', eventTitle: 'Leeds vs Brentford', starts: '2027-02-13T15:00:00Z' },
    'identical',
  ],
  [
    'one team at the other',
    {
      id: 'KXNFLGAME-27SEP12DALPHI-DAL',
      title: 'Dallas at Philadelphia Winner?',
      eventTitle: 'Dallas at Philadelphia',
    },
    {
      title: 'Cowboys vs. Eagles',
      eventTitle: 'Cowboys vs. Eagles',
      starts: '2027-09-12T20:25:00Z',
      category: 'nfl',
      outcomes: ['Cowboys', 'Eagles'],
    },
    'identical',
  ],
  [
    'a margin in words is a spread',
    {
      id: 'KXNFLSPREAD-27SEP12DALPHI-DAL3',
      title: 'Dallas wins by over 3.5 points?',
      eventTitle: 'Dallas at Philadelphia: Spread',
    },
    {
      title: 'Spread: Cowboys (-3.5)',
      eventTitle: 'Cowboys vs. Eagles',
      starts: '2027-09-12T20:25:00Z',
      category: 'nfl',
    },
    'identical',
  ],
  [
    'points over a line',
    {
      id: 'KXNFLTOTAL-27SEP12DALPHI-47',
      title: 'Will over 47.5 points be scored?',
      eventTitle: 'Dallas at Philadelphia: Total Points',
    },
    {
      title: 'Cowboys vs. Eagles: O/U 47.5',
      eventTitle: 'Cowboys vs. Eagles',
      starts: '2027-09-12T20:25:00Z',
      category: 'nfl',
    },
    'identical',
  ],
  [
    'the total of a half is not the total',
    {
      id: 'KXNFLTOTAL-27SEP12DALPHI-23',
      title: 'Will over 23.5 points be scored?',
      eventTitle: 'Dallas at Philadelphia: Total Points',
    },
    {
      title: 'Cowboys vs. Eagles: 1H O/U 23.5',
      eventTitle: 'Cowboys vs. Eagles',
      starts: '2027-09-12T20:25:00Z',
      category: 'nfl',
    },
    'overlap',
  ],
  ...[
    'Will Ostheim FC win to nil?',
    'Will Ostheim FC win both halves?',
    'Will Ostheim FC win by exactly 2 goals?',
    'Ostheim FC or draw?',
    'Tarn vs Ostheim: Correct Score',
  ].map((title): Case => [
    `a question beside the winner: ${title}`,
    ostheim('Will Ostheim FC win on 2027-03-06?'),
    ostheim(title),
    'overlap',
  ]),
  [
    'a score with its winner is not that of the first side',
    ostheim('Exact Score: Tarn FC 2 - 1 Ostheim FC?'),
    ostheim('Tarn vs Ostheim: Correct Score (Ostheim wins 2-1)'),
    'overlap',
  ],
  [
    'the academy of a team is another team',
    {
      id: 'KXLOLGAME-27MAR06ORAKEL-ORA',
      title: 'Will Orange Six win the Orange Six vs. Kelpie match?',
      eventTitle: 'Orange Six vs. Kelpie',
    },
    {
      title: 'LoL: Orange Six Academy vs Kelpie Challengers (BO3)',
      eventTitle: 'LoL: Orange Six Academy vs Kelpie Challengers (BO3)',
      outcomes: ['Orange Six Academy', 'Kelpie Challengers'],
      starts: '2027-03-06T10:00:00Z',
    },
    'unknown',
  ],
  [
    'the rules state a total that title and ticker leave out',
    {
      id: 'KXNBATOTAL-27JAN16PHXMIL-224',
      title: 'Phoenix at Milwaukee: Total Points',
      eventTitle: 'Phoenix at Milwaukee: Total Points',
      rules:
        'If the teams playing in the Phoenix vs Milwaukee professional basketball game collectively score more than 224.5 points, then the market resolves to Yes.',
    },
    {
      title: 'Suns vs. Bucks: O/U 224.5',
      eventTitle: 'Suns vs. Bucks',
      starts: '2027-01-17T01:00:00Z',
      category: 'NBA',
    },
    'identical',
  ],
  [
    'the name of a market states a total of both sides',
    {
      id: 'KXNBATOTAL-27JAN16PHXMIL-X',
      title: 'Phoenix at Milwaukee: Total Points (Over 224.5 points scored)',
      eventTitle: 'Phoenix at Milwaukee: Total Points',
    },
    {
      title: 'Suns vs. Bucks: O/U 224.5',
      eventTitle: 'Suns vs. Bucks',
      starts: '2027-01-17T01:00:00Z',
      category: 'NBA',
    },
    'identical',
  ],
  ...['Leeds to win and over 2.5 goals', 'Over 2.5 goals and Leeds wins'].flatMap((title): Case[] => [
    [`a result and a total are not the result alone: ${title}`, soccer(title), group('Leeds'), 'overlap'],
    [
      `a result and a total are not the total alone: ${title}`,
      soccer(title),
      soccer('Leeds United FC vs. Brentford FC: O/U 2.5'),
      'overlap',
    ],
    [
      `a result and a total are not the total of a side: ${title}`,
      soccer(title),
      soccer('Leeds United FC: O/U 2.5'),
      'overlap',
    ],
  ]),
  ...['30+ points', 'Rowan Hale: 30+ points'].map((title): Case => [
    `points of a player are no total: ${title}`,
    { id: 'KXNBAPTS-27JAN16PHXMIL-MILRHALE7-30', title, eventTitle: 'Phoenix at Milwaukee: Points' },
    {
      title: 'Suns vs. Bucks: O/U 29.5',
      eventTitle: 'Suns vs. Bucks',
      starts: '2027-01-17T01:00:00Z',
      category: 'NBA',
    },
    'overlap',
  ]),
  ...[
    'Will Leeds United FC win the first 15 minutes?',
    'Will Leeds United FC win without a goal of Brentford FC?',
    'Will Leeds United FC win their third friendly in a row?',
    'Leeds vs Brentford (Fast Market)',
  ].map((title): Case => [
    `words that no rule knows leave a game open: ${title}`,
    soccer(title),
    group('Leeds'),
    'unknown',
  ]),
  ...['Will Leeds United FC win the series?', 'Leeds United FC vs. Brentford FC: Series Winner'].map((title): Case => [
    `who wins the series: ${title}`,
    { ...soccer(title), outcomes: ['Leeds United FC', 'Brentford FC'] },
    group('Leeds'),
    'overlap',
  ]),
  [
    'goals until a minute are not all goals',
    soccer('Leeds United FC vs. Brentford FC: Over 1.5 goals before 60:00'),
    soccer('Leeds United FC vs. Brentford FC: O/U 1.5'),
    'unknown',
  ],
  [
    'two goals of both are more than a goal of both',
    soccer('Both teams to score 2 or more'),
    soccer('Both teams to score'),
    'unknown',
  ],
  [
    'a game that is left open is no act of the same words',
    { ...soccer('Will Leeds United FC score 5 goals before 60:00 in 2027?'), eventTitle: 'Leeds vs Brentford' },
    { ...soccer('Will Leeds United FC score 5 goals before 60:00 in 2027?'), eventTitle: 'Leeds vs Fulham' },
    'unknown',
  ],
  ...[
    'Will Norland win the Norland vs Sudmark T20 match?',
    'Will Norland win against Sudmark today?',
    'Will Norland beat Sudmark on Wednesday?',
  ].map((title): Case => [`words that ask nothing beside the winner: ${title}`, cricket(title), norland, 'identical']),
  ...['T20 Series: Norland vs Sudmark', 'ODI Series: Norland vs Sudmark'].map((series): Case => [
    `a series heads a single match of cricket: ${series}`,
    { ...cricket(`${series}, 1st ODI`), eventTitle: series, outcomes: ['Norland', 'Sudmark'] },
    norland,
    'identical',
  ]),
  [
    'a series of cricket is more than a match of it',
    { ...cricket('Will Norland win the T20 series?'), eventTitle: 'Norland vs Sudmark' },
    norland,
    'overlap',
  ],
  [
    'a series may head the series itself where games are no cricket',
    { ...nbaGame('Playoff Series: Suns vs. Bucks'), eventTitle: 'Playoff Series: Suns vs Bucks' },
    nbaGame('Suns vs. Bucks'),
    'unknown',
  ],
  [
    'teams by city and by name, tonight',
    {
      id: 'KXNBAGAME-27JAN16PHXMIL-PHX',
      title: 'Phoenix at Milwaukee Winner?',
      eventTitle: 'Phoenix at Milwaukee',
    },
    nbaGame('Will the Suns beat the Bucks tonight?'),
    'identical',
  ],
  [
    'first names of players in a title are no other words',
    {
      id: 'KXATPMATCH-27JUL04LINMOR-LIN',
      title: 'Will Karl Lindt win the Lindt vs Moravec: Final match?',
      eventTitle: 'Lindt vs Moravec',
    },
    {
      title: 'ATP Finals: Karl Lindt vs Ivan Moravec',
      eventTitle: 'ATP Finals: Lindt vs Moravec',
      outcomes: ['Lindt', 'Moravec'],
      starts: '2027-07-04T12:00:00Z',
    },
    'identical',
  ],
  [
    'other words before a name are no first names',
    {
      title: 'Fast start Lindt vs Moravec',
      eventTitle: 'ATP Finals: Lindt vs Moravec',
      outcomes: ['Lindt', 'Moravec'],
      starts: '2027-07-04T12:00:00Z',
    },
    {
      title: 'ATP Finals: Karl Lindt vs Ivan Moravec',
      eventTitle: 'ATP Finals: Lindt vs Moravec',
      outcomes: ['Lindt', 'Moravec'],
      starts: '2027-07-04T12:00:00Z',
    },
    'unknown',
  ],
  [
    'a bracket with the class and the card of a fight',
    {
      id: 'KXUFCFIGHT-27MAR06MORDIA-DIA',
      title: 'Will Lena Diaz win the Moreau vs Diaz professional MMA fight scheduled for Mar 6, 2027?',
      eventTitle: 'Moreau vs Diaz',
    },
    {
      title: 'UFC 400: Moreau vs. Diaz (Flyweight, Main Card)',
      eventTitle: 'UFC 400: Moreau vs. Diaz',
      outcomes: ['Moreau', 'Diaz'],
      starts: '2027-03-06T20:00:00Z',
    },
    'complement',
  ],
  ...(
    [
      ['Will Karl Lindt win the second set?', 'overlap'],
      ['Will Karl Lindt win a set?', 'unknown'],
      ['Will Karl Lindt win a tiebreak?', 'unknown'],
    ] as const
  ).map(([title, relation]): Case => [
    `a part of a match: ${title}`,
    { title, eventTitle: 'Karl Lindt vs Ivan Moravec', starts: '2027-07-04T12:00:00Z', category: 'tennis' },
    { title: 'Wimbledon: Karl Lindt vs Ivan Moravec', starts: '2027-07-04T12:00:00Z', category: 'tennis' },
    relation,
  ]),
  [
    'the second set is set 2',
    {
      title: 'Will Karl Lindt win the second set?',
      eventTitle: 'Karl Lindt vs Ivan Moravec',
      starts: '2027-07-04T12:00:00Z',
      category: 'tennis',
    },
    {
      title: 'Set 2 Winner: Karl Lindt vs Ivan Moravec',
      starts: '2027-07-04T12:00:00Z',
      category: 'tennis',
      outcomes: ['Karl Lindt', 'Ivan Moravec'],
    },
    'identical',
  ],
  [
    'a total whose first outcome is under',
    { ...soccer('Leeds United FC vs. Brentford FC: O/U 2.5'), outcomes: ['Under', 'Over'] },
    { ...soccer('Leeds United FC vs. Brentford FC: O/U 2.5'), outcomes: ['Over', 'Under'] },
    'unknown',
  ],
  ['a market that is named after No', soccer('Both teams to score: No'), soccer('Both teams to score'), 'unknown'],
  [
    'a spread whose first outcome is the other side',
    { ...soccer('Spread: Leeds United FC (-1.5)'), outcomes: ['Brentford FC', 'Leeds United FC'] },
    { ...soccer('Spread: Leeds United FC (-1.5)'), outcomes: ['Leeds United FC', 'Brentford FC'] },
    'overlap',
  ],
  ['the first of two games of a day, and the second', doubleheader('1305', 'G1'), evening(' (Game 2)'), 'unknown'],
  ['two games of a day by their starts', doubleheader('1305', ''), evening(''), 'unknown'],
  ['one game by its start', doubleheader('1905', ''), evening(''), 'identical'],
  ...['Opening Tip', 'Second Chance Points', 'Loudest Crowd'].map((heading): Case => [
    `a heading that its event has not asks something else: ${heading}`,
    nbaGame('Suns vs. Bucks'),
    nbaGame(`${heading}: Suns vs. Bucks`),
    'unknown',
  ]),
  ...[
    'Suns vs. Bucks: Bench Points',
    'Suns vs. Bucks - Alley Oops',
    'Suns vs. Bucks: Will the Suns win with nine men?',
  ].map((title): Case => [
    `a title alone that asks for more: ${title}`,
    nbaGame('Suns vs. Bucks'),
    { ...nbaGame(title), eventTitle: '' },
    'unknown',
  ]),
  [
    'an event of the same title asks no less',
    nbaGame('Suns vs. Bucks'),
    { ...nbaGame('Suns vs. Bucks: Fast Break Points'), eventTitle: 'Suns vs. Bucks: Fast Break Points' },
    'unknown',
  ],
  [
    'a title alone with its tournament asks who wins',
    { ...nbaGame('Suns vs. Bucks'), eventTitle: '' },
    { ...nbaGame('Winter Trophy: Suns vs. Bucks'), eventTitle: '' },
    'identical',
  ],
  ...[
    { category: 'soccer women' },
    { rules: 'This market is about the game of the women of both clubs.' },
    { rules: "If Leeds wins the women's international friendly against Brentford, the market resolves to Yes." },
    { slug: 'wsl-lee-bre-2027-02-13' },
    { eventTitle: 'Leeds United WFC vs. Brentford WFC' },
  ].map((more): Case => [
    `the game of the women is said in ${Object.keys(more)[0]}`,
    soccer('Will Leeds United FC win on 2027-02-13?'),
    { ...soccer('Will Leeds United FC win on 2027-02-13?'), ...more },
    'unknown',
  ]),
  ...[
    "This market refers only to the men's game. Women's fixtures do not count.",
    "If Leeds United (not the women's team) wins, the market resolves to Yes.",
    "If Leeds United wins, the market resolves to Yes. It is not about the women's match.",
  ].map((rules): Case => [
    `rules that speak of women to exclude their game: ${rules}`,
    soccer('Will Leeds United FC win on 2027-02-13?'),
    { ...soccer('Will Leeds United FC win on 2027-02-13?'), rules },
    'identical',
  ]),
  ...['1HSPREAD', '1HWINNER', '2H'].map((part): Case => [
    `a ticker names a part of the game: ${part}`,
    nbaGame('Spread: Suns (-4.5)'),
    { ...nbaGame('Spread: Suns (-4.5)'), id: `KXNBA${part}-27JAN16PHXMIL-PHX5` },
    'overlap',
  ]),
];

test.each(CASES)('games: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});

test('a market whose rules alone speak of women differs in nothing from a silent one', () => {
  const title = 'Will Leeds United FC win on 2027-02-13?';
  const rules = "If Leeds wins the women's international friendly, the market resolves to Yes.";
  const { reasons } = judge(factsOf(texts({ ...soccer(title), rules })), factsOf(texts(soccer(title))));
  expect(reasons.find(({ field }) => field === 'gender')).toEqual({
    field: 'gender',
    a: "women's international friendly",
    b: '',
    verdict: 'missing',
  });
  expect(reasons.map(({ verdict }) => verdict)).not.toContain('differs');
});
