import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const TICKERS: Readonly<Record<string, string>> = { points: 'PTS', assists: 'AST', rebounds: 'REB', threes: '3PT' };
const plus = (player: string, count: number, figure: string): Some => ({
  id: `KXNBA${TICKERS[figure] ?? 'PTS'}-27JAN16PHXMIL-PHXKLINDT7-${count}`,
  title: `${player}: ${count}+ ${figure}`,
  eventTitle: `Phoenix at Milwaukee: ${figure === 'threes' ? 'Threes' : 'Points'}`,
});
const line = (title: string, more: Some = {}): Some => ({
  title,
  eventTitle: 'Suns vs. Bucks',
  outcomes: ['Yes', 'No'],
  starts: '2027-01-17T01:00:00Z',
  category: 'NBA',
  ...more,
});
const touchdown = (title: string, series = 'ANYTD', eventTitle = 'Touchdowns'): Some => ({
  id: `KXNFL${series}-26DEC13KCBUF-KCKLINDT87`,
  title,
  eventTitle: `Kansas City at Buffalo: ${eventTitle}`,
});
const chiefs = (title: string): Some => ({
  title,
  eventTitle: 'Chiefs vs. Bills',
  outcomes: ['Yes', 'No'],
  starts: '2026-12-13T18:00:00Z',
  category: 'NFL',
});

const CASES: readonly Case[] = [
  ...[
    'Karl Lindt: Points O/U 29.5',
    'Karl Lindt: Points Over 29.5',
    'Karl Lindt: O/U 29.5 Points',
    'Karl Lindt: 30+ pts',
    'Will Karl Lindt score 30+ points?',
    'Will Karl Lindt score more than 29.5 points?',
    'Suns vs. Bucks: Karl Lindt: Points O/U 29.5',
  ].map((title): Case => [`thirty points: ${title}`, plus('Karl Lindt', 30, 'points'), line(title), 'identical']),
  ...[
    ['a higher line of one player', 'Karl Lindt: Points O/U 30.5', 'superset'],
    ['a lower line of one player', 'Karl Lindt: Points O/U 28.5', 'subset'],
    ['another player', 'Paul Lindt: Points O/U 29.5', 'unknown'],
    ['one letter more in a first name', 'Karla Lindt: Points O/U 29.5', 'unknown'],
    ['an initial', 'K. Lindt: Points O/U 29.5', 'unknown'],
    ['a family name alone', 'Lindt: Points O/U 29.5', 'unknown'],
    ['another figure', 'Karl Lindt: Assists O/U 29.5', 'overlap'],
    ['a sum of figures', 'Karl Lindt: Points + Rebounds + Assists O/U 29.5', 'overlap'],
    ['a figure of a half', 'Karl Lindt: 1st Half Points O/U 29.5', 'unknown'],
    ['a side of the game', 'Suns: Points O/U 29.5', 'unknown'],
    ['both sides of the game', 'Suns vs. Bucks: O/U 29.5', 'overlap'],
  ].map(([name, title, relation]): Case => [
    `a player's points: ${name}`,
    plus('Karl Lindt', 30, 'points'),
    line(title ?? ''),
    (relation ?? '') as Case[3],
  ]),
  [
    "a player's points on another day",
    plus('Karl Lindt', 30, 'points'),
    line('Karl Lindt: Points O/U 29.5', { starts: '2027-01-19T01:00:00Z' }),
    'unknown',
  ],
  [
    'a market whose first outcome is Under asks the opposite',
    plus('Karl Lindt', 30, 'points'),
    line('Karl Lindt: Points O/U 29.5', { outcomes: ['Under', 'Over'] }),
    'unknown',
  ],
  [
    'a mark of generation may be left out of a player',
    plus('Karl Lindt Jr.', 30, 'points'),
    line('Karl Lindt: Points O/U 29.5'),
    'identical',
  ],
  [
    'threes are three-pointers',
    plus('Karl Lindt', 4, 'threes'),
    line('Karl Lindt: 3-Pointers Made O/U 3.5'),
    'identical',
  ],
  ...[
    'Kansas City at Buffalo: Anytime Touchdown Scorer: Karl Lindt',
    'Kansas City at Buffalo: Anytime Touchdown Scorer (Karl Lindt)',
    'Karl Lindt: Anytime Touchdown',
    'Karl Lindt: 1+ touchdowns',
  ].map((title): Case => [
    `a touchdown at any time: ${title}`,
    touchdown(title),
    chiefs('Karl Lindt: Anytime Touchdown'),
    'identical',
  ]),
  [
    'two touchdowns are one and more',
    touchdown('Karl Lindt: 2+ touchdowns', '2TD'),
    chiefs('Karl Lindt: Anytime Touchdown'),
    'subset',
  ],
  [
    'the first touchdown is not any touchdown',
    touchdown('Kansas City at Buffalo: First Touchdown Scorer: Karl Lindt', 'FIRSTTD'),
    chiefs('Karl Lindt: Anytime Touchdown'),
    'unknown',
  ],
  ...(
    [
      ['Will Karl Lindt throw 2+ touchdowns?', 'Karl Lindt: 2+ touchdowns'],
      ['Will Karl Lindt and Paul Moor score 2+ touchdowns?', 'Karl Lindt and Paul Moor: 2+ touchdowns'],
      ['Will any player score 2+ touchdowns?', 'Any player: 2+ touchdowns'],
      ['Karl Lindt Jr.: 2+ touchdowns', 'Karl Lindt Sr.: 2+ touchdowns'],
    ] as const
  ).map(([one, other]): Case => [`not one player's figure: ${one}`, chiefs(one), chiefs(other), 'unknown']),
  [
    'a touchdown whose event or ticker says that it is thrown',
    touchdown('Karl Lindt: 1+ touchdowns', 'PASSTDS'),
    chiefs('Karl Lindt: Anytime Touchdown'),
    'unknown',
  ],
  [
    'a line of a part of the game that the event alone names',
    { ...chiefs('Karl Lindt: 2+ touchdowns'), eventTitle: 'Chiefs vs. Bills: Opening 6 minutes' },
    chiefs('Karl Lindt: 2+ touchdowns'),
    'unknown',
  ],
  ...(
    [
      ['Karl Lindt: 10+ points', 'In the 1st half of the game.'],
      ['Karl Lindt: 10+ points', 'Average points per game in the season.'],
      ['Karl Lindt: 1+ touchdowns', 'Resolves to Yes if Karl Lindt throws a touchdown.'],
      ['J. Lindt: 10+ points', ''],
    ] as const
  ).map(([title, rules]): Case => [
    `a line that may be of less than the game, or of another player: ${title} ${rules}`,
    { ...line(title), rules },
    line(title),
    'unknown',
  ]),
  [
    'a line of a half by its ticker',
    { ...plus('Karl Lindt', 30, 'points'), id: 'KXNBA1HPTS-27JAN16PHXMIL-PHXKLINDT7-30' },
    line('Karl Lindt: Points O/U 29.5'),
    'unknown',
  ],
  [
    'the first touchdown by the rules',
    { ...chiefs('Karl Lindt: Anytime Touchdown'), rules: 'Resolves to Yes if Karl Lindt scores the first touchdown.' },
    chiefs('Karl Lindt: Anytime Touchdown'),
    'unknown',
  ],
  [
    'a thrown touchdown is none that is scored',
    touchdown('Karl Lindt: 1+ passing touchdowns', 'PASSTDS', 'Passing Touchdowns'),
    chiefs('Karl Lindt: Anytime Touchdown'),
    'overlap',
  ],
];

test.each(CASES)('players: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
