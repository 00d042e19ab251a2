import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case } from './pair.ts';

const CASES: readonly Case[] = [
  [
    'a club whose name ends with the name of another club is left open',
    { title: 'Will RCD Espanyol de Barcelona win the 2028-29 La Liga?' },
    { title: 'Will Barcelona win the 2028-29 La Liga?' },
    'unknown',
  ],
  [
    'a driver may be named by the family name alone',
    { title: 'Will Marek Dvorsky win the 2028 F1 Drivers Championship?' },
    { title: 'Will Dvorsky win the 2028 F1 Drivers Championship?' },
    'identical',
  ],
  [
    'two countries of one name are two',
    { title: 'Will DR Congo win the 2029 Africa Cup of Nations?' },
    { title: 'Will Congo win the 2029 Africa Cup of Nations?' },
    'disjoint',
  ],
  [
    'one nomination in two wordings',
    { id: 'KXPRESNOMD-32-MK', title: 'Will Maria Keller be the Democratic Presidential nominee in 2032?' },
    { title: 'Will Maria Keller win the 2032 Democratic presidential nomination?' },
    'identical',
  ],
  [
    'the nomination is not the election',
    { title: 'Will Maria Keller be the Democratic Presidential nominee in 2032?' },
    { title: 'Will Maria Keller win the 2032 US Presidential Election?' },
    'unknown',
  ],
  [
    'two names, one office',
    { title: 'Will Maria Keller win the 2031 Lyon mayoral election?' },
    { title: '2031 Lyon Mayoral Election Winner: Paul Renard' },
    'disjoint',
  ],
  [
    'a son is not his father',
    { title: 'Republican Presidential Nominee 2032: Walter Hale Jr.' },
    { title: 'Republican Presidential Nominee 2032: Walter Hale' },
    'disjoint',
  ],
  [
    'a placeholder is nobody yet',
    { title: 'Will Maria Keller win the 2031 Lyon mayoral election?' },
    { title: 'Will Candidate X win the 2031 Lyon mayoral election?' },
    'unknown',
  ],
  [
    'another year of the same race',
    { id: 'SENATEKS-32-D', title: 'Will Democrats win the Senate race in Kansas?' },
    { title: 'Will the Democrats win the Kansas Senate race in 2030?' },
    'unknown',
  ],
  [
    'a party by two names',
    { id: 'GOVPARTYIA-30-R', title: 'Will the Republican party win the governorship in Iowa' },
    { title: 'Will the Republicans win the Iowa governor race in 2030?' },
    'identical',
  ],
  [
    'the primary is not the first round',
    { title: 'Will anyone win outright in the first round of the 2031 Chile Presidential election?' },
    { title: 'Will anyone win the 2031 Chile Presidential election?' },
    'unknown',
  ],
  [
    'edges of a share of the vote',
    {
      title: 'Will the Pirates win 20-25% of the vote in the 2029 Swedish election?',
      rules:
        'This market will resolve to "Yes" if the Pirates win between 20% (inclusive) and 25% (exclusive) of all votes.',
    },
    {
      title: 'What share of the vote will the Pirates get in the 2029 Swedish election?',
      rules:
        'If the Pirates receive 20% to 24.9% share of the vote in the 2029 Swedish election, then the market resolves to Yes.',
    },
    'superset',
  ],
  [
    'one trophy under two names',
    { id: 'KXNHL-27-BOS', title: 'Will Boston Bruins win the 2026-27 Stanley Cup Finals?' },
    { title: 'Will the Boston Bruins win the 2027 NHL Stanley Cup?' },
    'identical',
  ],
  [
    'a city stands for its team',
    { id: 'KXNBA-27-DEN', title: 'Will the Denver win the 2027 Pro Basketball Finals?' },
    { title: '2027 NBA Champion: Denver Nuggets' },
    'identical',
  ],
  [
    'two teams, one title',
    { id: 'KXNBA-27-DEN', title: 'Will the Denver win the 2027 Pro Basketball Finals?' },
    { title: '2027 NBA Champion: Utah Jazz' },
    'disjoint',
  ],
  [
    'the league of a conference stands in the ticker',
    { id: 'KXNBAWEST-27-DEN', title: 'Will Denver win the Western Conference?' },
    { title: 'Will the Denver Nuggets win the 2027 NBA Western Conference Finals?' },
    'identical',
  ],
  [
    'one conference of two leagues',
    { id: 'KXNHLWEST-27-COL', title: 'Will Colorado win the Western Conference?' },
    { title: 'Will Colorado win the 2027 NBA Western Conference Finals?' },
    'unknown',
  ],
  [
    'the conference is not the title',
    { title: '2027 NBA Champion: Denver Nuggets' },
    { title: '2027 NBA Western Conference Champion: Denver Nuggets' },
    'unknown',
  ],
  [
    "the women's tournament is another",
    { title: "Will Baylor win the 2027 Women's College Basketball D1 Championship?" },
    {
      title: 'Will Baylor win the 2027 NCAA Tournament?',
      rules: "This market will resolve according to the team that wins the 2027 NCAA Men's Basketball Tournament.",
    },
    'unknown',
  ],
  [
    'a state university is not its namesake',
    { title: 'Will Oregon win the 2027 NCAA Tournament?' },
    { title: 'Will Oregon State win the 2027 NCAA Tournament?' },
    'disjoint',
  ],
  [
    'winning a group is finishing first in it',
    {
      id: 'KXWCGROUPWIN-30C-GHA',
      title: 'Will Ghana finish first in World Cup Group C?',
      ends: '2030-07-01T00:00:00Z',
    },
    { title: 'Will Ghana win Group C in the 2030 FIFA World Cup?' },
    'identical',
  ],
  [
    'another group',
    { title: 'Will Ghana win Group C in the 2030 FIFA World Cup?' },
    { title: 'Will Ghana win Group D in the 2030 FIFA World Cup?' },
    'unknown',
  ],
  [
    'the final is reached before it is won',
    { title: 'Will Ghana reach the 2030 FIFA World Cup final?' },
    { title: 'Will Ghana win the 2030 FIFA World Cup?' },
    'superset',
  ],
  [
    'top 20 includes top 5',
    { title: 'PGA Championship: Will Ivo Brandt finish top 20?', ends: '2027-05-20T00:00:00Z' },
    { title: 'Will Ivo Brandt finish in the Top 5 at the 2027 PGA Championship?' },
    'superset',
  ],
  [
    'one award by its rules',
    {
      id: 'KXSAGACTR-27-PA',
      title: '2027 SAG Award for Best Leading Actress?',
      rules: 'If Petra Alm has won Best Leading Actress at the 33rd SAG Awards, then the market resolves to Yes.',
    },
    {
      title: 'Will Petra Alm win Best Actor at the 2027 SAG Award?',
      rules:
        'This market will resolve according to the individual who wins the Screen Actors Guild Award for Outstanding Performance by a Female Actor in a Leading Role.',
    },
    'identical',
  ],
  [
    'a group of an award asks who wins it',
    { title: 'Will Petra Alm win Best Actress at the 2027 Oscars?' },
    { title: '2027 Oscars Best Actress: Petra Alm' },
    'identical',
  ],
  [
    'another award of the same person',
    { title: 'Will Petra Alm win Best Actress at the 2027 Oscars?' },
    { title: 'Will Petra Alm win Best Actress at the 2027 BAFTA Awards?' },
    'unknown',
  ],
  [
    'the U.S. Open is not the Open Championship',
    {
      id: 'KXPGATOUR-USO27-IB',
      title: 'Will Ivo Brandt win the U.S. Open?',
      rules: 'If Ivo Brandt wins the 2027 U.S. Open, then the market resolves to Yes.',
    },
    { title: 'Will Ivo Brandt win the 2027 Open Championship?' },
    'unknown',
  ],
  [
    'a city and its team in a conference',
    { id: 'KXNFLAFCCHAMP-27-BUF', title: 'Will Buffalo win the 2027 AFC Championship?' },
    { title: 'Will the Buffalo Bills win the 2027 AFC Championship?' },
    'identical',
  ],
  [
    'a name that begins another one excludes nothing',
    { title: 'Will Tarnow win the 2027 Vistula Cup?' },
    { title: 'Will Tarnow Lynx win the 2027 Vistula Cup?' },
    'unknown',
  ],
  [
    'the series of a race stands in its rules',
    {
      id: 'KXF1RACE-MONGP27-IB',
      title: 'Monaco Grand Prix Winner?',
      outcomeName: 'Ivo Brandt',
      rules: 'If Ivo Brandt wins the 2027 F1 Monaco Grand Prix, then the market resolves to Yes.',
    },
    { title: 'Will Ivo Brandt win the 2027 F1 Monaco Grand Prix?' },
    'identical',
  ],
  [
    'the podium includes the winner',
    {
      id: 'KXF1RACEPODIUM-MONGP27-IB',
      title: 'Monaco Grand Prix Podium?',
      outcomeName: 'Ivo Brandt',
      rules: 'If Ivo Brandt finishes on the podium of the 2027 F1 Monaco Grand Prix, then the market resolves to Yes.',
    },
    { title: 'Will Ivo Brandt win the 2027 F1 Monaco Grand Prix?' },
    'superset',
  ],
  [
    'a season in two years, and in the abbreviation of a ticker',
    {
      id: 'KXNBAMVP-27-PALM',
      title: 'Will Petr Alm win the Pro Basketball MVP?',
      rules: 'If Petr Alm wins 2026-27 Pro Basketball MVP, then the market resolves to Yes.',
    },
    { title: 'Will Petr Alm win the 2026–2027 NBA MVP?' },
    'identical',
  ],
  [
    'the number of a ceremony is no year',
    {
      id: 'KXGRAMAOTY-69-ALM',
      title: 'Will "Salt" by Petra Alm win Album of the Year at the Grammys?',
      ends: '2027-02-28T00:00:00Z',
    },
    { title: 'Will Salt by Petra Alm win Album of the Year at the 69th Grammy Awards?', ends: '2027-02-07T00:00:00Z' },
    'identical',
  ],
  [
    'a party in brackets is the party before them',
    {
      id: 'KXSENATEOH-28-D',
      title: 'Will Democratics win the Senate race in Ohio? (Democratic party)',
      outcomeName: 'Democratic party',
    },
    { title: 'Will the Democrats win the Ohio Senate race in 2028?' },
    'identical',
  ],
  [
    'two bodies name a game of the year',
    { title: 'Will Blue Lantern win Game of the Year?', eventTitle: 'The Game Awards 2027: Game of the Year' },
    {
      title: 'Will Blue Lantern win Game of the Year?',
      rules: 'If Blue Lantern wins Game of the Year at the 2027 BAFTA Games Awards, then the market resolves to Yes.',
    },
    'unknown',
  ],
  ...[
    ['the Reform Party win 40 or more seats', 'the Reform Party win 55 or more seats'],
    ['Odo Varga win by more than 3 points', 'Odo Varga win by more than 9 points'],
    ['Odo Varga win by more than 3 points', 'Odo Varga win'],
    ['Odo Varga win the most votes', 'Odo Varga win'],
    ['Odo Varga win in the first round', 'Odo Varga win the first round'],
  ].map(([one, other]): Case => [
    `more than who wins: ${one}`,
    { title: `Will ${one} in the 2031 Freedonia presidential election?` },
    { title: `Will ${other} in the 2031 Freedonia presidential election?` },
    'unknown',
  ]),
  [
    'a number of prizes is no prize',
    { title: 'Will "Salt" win 3 or more Oscars in 2027?' },
    { title: 'Will "Salt" win 6 or more Oscars in 2027?' },
    'unknown',
  ],
  [
    'a title in so many games is part of the title',
    { title: 'Will the Utah Jazz win the 2027 NBA Finals in 6 games?' },
    { title: 'Will the Utah Jazz win the 2027 NBA Finals in 4 or 6 games?' },
    'unknown',
  ],
  ...['the Reform Party', 'a woman', 'a member of parliament'].map((title): Case => [
    `a person may be of a party or class: ${title}`,
    { title: `Will ${title} win the 2031 Freedonia presidential election?` },
    { title: 'Will Lena Moor win the 2031 Freedonia presidential election?' },
    'unknown',
  ]),
  [
    'two parties exclude each other',
    { title: 'Will the Reform Party win the 2031 Freedonia presidential election?' },
    { title: 'Will the Pirate Party win the 2031 Freedonia presidential election?' },
    'disjoint',
  ],
  [
    'the event names the office of a primary',
    {
      title: 'Will Tom Reed win the 2028 Iowa Republican Primary?',
      eventTitle: 'Iowa Republican Governor Primary Winner',
    },
    {
      title: 'Will Tom Reed win the 2028 Iowa Republican Primary?',
      eventTitle: 'Iowa Republican Senate Primary Winner',
    },
    'unknown',
  ],
  ...[
    ['Norland Cup', 'Norland Tournament'],
    ['Norland Tennis Championship', 'Norland Tennis Tour'],
    ['Norland Chess Tour', 'Norland Chess Cup'],
  ].map(([one, other]): Case => [
    `the form of a competition, where both say it: ${one}`,
    { title: `Will Marek Dvorsky win the 2029 ${one}?` },
    { title: `Will Marek Dvorsky win the 2029 ${other}?` },
    'unknown',
  ]),
  [
    'the form of a competition may be left out',
    { title: 'Will Marek Dvorsky win the 2029 Norland Masters Championship?' },
    { title: 'Will Marek Dvorsky win the 2029 Norland Masters?' },
    'identical',
  ],
  ...[
    ["Wimbledon men's singles championship", "Wimbledon men's singles"],
    ["Wimbledon men's singles championship", 'Wimbledon tournament'],
    ['US Open golf championship', 'US Open golf tournament'],
    ['Norland Cup', 'Norland Cup championship'],
    ['NBA Cup', 'In-Season Tournament (NBA Cup)'],
    ['Tour de France', 'Tour de France championship'],
    ['NHL Eastern Conference title', 'NHL Eastern Conference Final'],
    ['National Hockey League Eastern Conference', 'NHL Eastern Conference'],
    ['National Basketball Association Western Conference', 'NBA Western Conference title'],
  ].map(([one, other]): Case => [
    `a competition in other words: ${one}, ${other}`,
    { title: `Will Utah win the 2029 ${one}?` },
    { title: `Will Utah win the 2029 ${other}?` },
    'identical',
  ]),
  ...[
    ['EFL Cup', 'EFL Championship'],
    ['Big Ten Championship', 'Big Ten Tournament'],
    ['PGA Championship', 'Tour Championship'],
    ['PGA Championship', 'PGA Tour Championship'],
    ['Norland Chess Team Championship', 'Norland Chess Championship'],
    ['English League Cup', 'English League'],
    ["Women's National Basketball Association Eastern Conference", 'NBA Eastern Conference'],
  ].map(([one, other]): Case => [
    `two competitions: ${one}, ${other}`,
    { title: `Will Utah win the 2029 ${one}?` },
    { title: `Will Utah win the 2029 ${other}?` },
    'unknown',
  ]),
  [
    'what a title asks beside the conference',
    { title: 'Will Boston win the 2028 NBA Eastern Conference?' },
    { title: 'Will Boston win the 2028 NBA Eastern Conference tip-off?' },
    'unknown',
  ],
];

test.each(CASES)('contests: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
