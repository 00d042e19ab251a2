import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const match = (title: string, more: Some = {}): Some => ({
  title,
  eventTitle: title,
  outcomes: ['Owls', 'Foxes'],
  starts: '2027-01-22T16:00:00Z',
  category: 'Esports',
  ...more,
});
const cup = (rules: string): Some => ({
  title: 'Will Leeds United FC win on 2027-03-06?',
  eventTitle: 'Leeds United FC vs. Brentford FC',
  starts: '2027-03-06T15:00:00Z',
  category: 'Soccer FA Cup',
  rules,
});
const hockey = (rules: string): Some => ({
  title: 'Maple Leafs vs. Canadiens',
  eventTitle: 'Maple Leafs vs. Canadiens',
  outcomes: ['Maple Leafs', 'Canadiens'],
  starts: '2026-11-30T00:00:00Z',
  category: 'NHL',
  rules,
});
const noon = (candle: string): Some => ({
  title: 'Bitcoin above 90,000 on December 1, 12PM ET?',
  rules: `This market will resolve to "Yes" if the Binance ${candle} has a final Close price above 90,000.`,
  ends: '2026-12-01T17:00:00Z',
});
const hourly = (rules: string): Some => ({
  title: 'Bitcoin Up or Down - December 1, 10AM ET',
  outcomes: ['Up', 'Down'],
  rules: `This market will resolve to "Up" if the close is at or above the open of the ${rules}.`,
  ends: '2026-12-01T16:00:00Z',
});
const nominee = (name: string): Some => ({
  title: `Will ${name} win the 2028 Democratic presidential nomination?`,
  eventTitle: 'Democratic Presidential Nominee 2028',
  ends: '2028-11-07T00:00:00Z',
});

const CASES: readonly Case[] = [
  ...[
    'No extra time included.',
    'The result is that of 90 minutes without including extra time or penalties.',
    'Anything after 90 minutes, including extra time, is not considered.',
    'Extra time counts toward the market of who advances, not here.',
  ].map((rules): Case => [
    `extra time that does not count: ${rules}`,
    cup(rules),
    cup('The result of 90 minutes plus stoppage time.'),
    'identical',
  ]),
  [
    'extra time that counts, without a shootout',
    cup('Includes extra time, not the penalty shootout.'),
    cup('The result of 90 minutes plus stoppage time.'),
    'overlap',
  ],
  ['esports of two games', match('LoL: Owls vs Foxes (BO3)'), match('Valorant: Owls vs Foxes (BO3)'), 'unknown'],
  [
    'esports whose game one side leaves out',
    match('LoL: Owls vs Foxes (BO3)'),
    match('Owls vs Foxes (BO3)'),
    'unknown',
  ],
  [
    'esports whose game the rules name',
    match('LoL: Owls vs Foxes (BO3)'),
    match('Owls vs Foxes (BO3)', { rules: 'The winner of the League of Legends match.' }),
    'identical',
  ],
  [
    'esports whose rules name another game',
    match('LoL: Owls vs Foxes (BO3)'),
    match('Owls vs Foxes (BO3)', { rules: 'The winner of the Counter-Strike match.' }),
    'unknown',
  ],
  [
    'a map is a game of an esports match',
    match('LoL: Owls vs Foxes - Game 1 Winner'),
    match('LoL: Owls vs Foxes - Map 1 Winner'),
    'identical',
  ],
  [
    'another map of an esports match',
    match('LoL: Owls vs Foxes - Game 1 Winner'),
    match('LoL: Owls vs Foxes - Map 2 Winner'),
    'overlap',
  ],
  [
    'extra time that one of two markets includes',
    cup('After 90 minutes plus stoppage time (does not include extra time or penalties).'),
    cup('If Leeds United FC wins, including extra time and penalties, this resolves to Yes.'),
    'overlap',
  ],
  [
    'extra time that neither of two markets includes',
    cup('This does not include extra time.'),
    cup('If Leeds United FC wins, this resolves to Yes.'),
    'identical',
  ],
  [
    'overtime that one of two markets excludes',
    hockey('The winner of the game, excluding overtime and shootouts.'),
    hockey('The winner of the game.'),
    'overlap',
  ],
  [
    'overtime that both markets include, one in words',
    hockey('The winner of the game, including overtime and shootouts.'),
    hockey('The winner of the game.'),
    'identical',
  ],
  ['two currencies', noon('1 minute candle for BTC/USDT'), noon('1 minute candle for BTC/EUR'), 'overlap'],
  ['one currency in two spellings', noon('1 minute candle for BTC/USDT'), noon('1m candle for BTCUSDT'), 'identical'],
  ['a currency that one leaves out', noon('1 minute candle for BTC/USDT'), noon('1 minute candle'), 'identical'],
  ['two candles', noon('1 minute candle for BTC/USDT'), noon('1 hour candle for BTC/USDT'), 'overlap'],
  [
    'an hour whose rules compare a quarter of it',
    hourly('BTC/USDT 1 hour candle on Binance'),
    hourly('BTC/USDT 15 minute candle on Binance'),
    'unknown',
  ],
  [
    'an hour whose rules compare one-minute prices',
    hourly('BTC/USDT 1 hour candle on Binance'),
    hourly('hour by the 1 minute candles of BTC/USDT on Binance'),
    'identical',
  ],
  ['initials of a person, which others may have', nominee('Karla Otto-Lindt'), nominee('KOL'), 'unknown'],
  ['initials of another person', nominee('Karla Otto-Lindt'), nominee('PAM'), 'disjoint'],
  ['capitals that may be short for a name', nominee('Karla Lindt'), nominee('KLT'), 'unknown'],
  ['initials of a father', nominee('Karl F. Lindt Jr.'), nominee('KFL'), 'unknown'],
];

test.each(CASES)('terms of rules: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
