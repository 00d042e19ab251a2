import { expect, test } from 'vitest';
import { mirrored, relationOf, type Case, type Some } from './pair.ts';

const upDown = (title: string, more: Some = {}): Some => ({ title, ...more });
const BINANCE =
  'This market will resolve to "Yes" if the Binance 1 minute candle for ETH/USDT 12:00 in the ET timezone (noon) on the date of the title has a final "Close" price above the price in the title. Otherwise, this market will resolve to "No".';

const bitcoin = (low: string, high: string): Some => ({
  title: `Will the price of Bitcoin be between $${low} and $${high} on April 2, 2027, 12PM ET?`,
  rules:
    'If the reported value falls exactly between two brackets, then this market will resolve to the higher range bracket.',
});

const CASES: readonly Case[] = [
  [
    'Brent is not WTI',
    { title: 'Will Brent crude oil hit $80 by March 31, 2027?' },
    { title: 'Will WTI crude oil hit $80 by March 31, 2027?' },
    'unknown',
  ],
  [
    'the Nasdaq Composite is not the Nasdaq-100',
    { title: 'Will the Nasdaq Composite close above 20000 on March 31, 2027?' },
    { title: 'Will the Nasdaq-100 close above 20000 on March 31, 2027?' },
    'unknown',
  ],
  [
    'a negated question is left alone',
    { title: 'Will Bitcoin not reach $100,000 by March 31, 2027?' },
    { title: 'Will Bitcoin reach $100,000 by March 31, 2027?' },
    'unknown',
  ],
  [
    'a window in New York is the window in UTC',
    upDown('Bitcoin Up or Down - March 4, 3:15PM-3:30PM ET', { ends: '2027-03-04T20:30:00Z' }),
    upDown('BTC Up or Down - 15 mins', { starts: '2027-03-04T20:15:00Z', ends: '2027-03-04T20:30:00Z' }),
    'identical',
  ],
  [
    'another asset in the same window',
    upDown('Ethereum Up or Down - March 4, 3:15PM-3:30PM ET', { ends: '2027-03-04T20:30:00Z' }),
    upDown('BTC Up or Down - 15 mins', { starts: '2027-03-04T20:15:00Z', ends: '2027-03-04T20:30:00Z' }),
    'unknown',
  ],
  [
    'five minutes inside fifteen decide nothing',
    upDown('Bitcoin Up or Down - March 4, 3:15PM-3:20PM ET', { ends: '2027-03-04T20:20:00Z' }),
    upDown('BTC Up or Down - 15 mins', { starts: '2027-03-04T20:15:00Z', ends: '2027-03-04T20:30:00Z' }),
    'unknown',
  ],
  [
    'an hour ends where its last quarter ends',
    { id: 'KXBTC15M-27MAR041600-00', title: 'BTC price up in next 15 mins?' },
    upDown('BTC Up or Down - Hourly', { starts: '2027-03-04T20:00:00Z', ends: '2027-03-04T21:00:00Z' }),
    'unknown',
  ],
  [
    'a day is noon to noon in New York',
    upDown('Bitcoin Up or Down on March 9?', { ends: '2027-03-09T17:00:00Z' }),
    upDown('BTC Up or Down Daily', { starts: '2027-03-08T17:00:00Z', ends: '2027-03-09T17:00:00Z' }),
    'identical',
  ],
  [
    'in summer noon lies an hour earlier in UTC',
    upDown('Bitcoin Up or Down on July 9?', { ends: '2027-07-09T16:00:00Z' }),
    upDown('BTC Up or Down Daily', { starts: '2027-07-08T17:00:00Z', ends: '2027-07-09T17:00:00Z' }),
    'unknown',
  ],
  [
    'one source, one instant, one level',
    { title: 'Will the price of Ethereum be above $3,100 on April 2?', rules: BINANCE, ends: '2027-04-02T16:00:00Z' },
    { title: 'Ethereum above $3,100 on April 2, 12PM ET?', rules: BINANCE, ends: '2027-04-02T16:00:00Z' },
    'identical',
  ],
  [
    'a higher level is inside',
    { title: 'Will the price of Ethereum be above $3,200 on April 2?', rules: BINANCE, ends: '2027-04-02T16:00:00Z' },
    { title: 'Ethereum above $3,100 on April 2, 12PM ET?', rules: BINANCE, ends: '2027-04-02T16:00:00Z' },
    'subset',
  ],
  [
    '17:00 in New York is not 12:00',
    { title: 'Ethereum above $3,100 on April 2, 5PM ET?', rules: BINANCE, ends: '2027-04-02T21:00:00Z' },
    { title: 'Ethereum above $3,100 on April 2, 12PM ET?', rules: BINANCE, ends: '2027-04-02T16:00:00Z' },
    'unknown',
  ],
  [
    '17:00 in New York is 21:00 UTC in summer',
    { title: 'Ethereum above 3,100 on April 2, 5PM ET?', ends: '2027-04-02T21:00:00Z' },
    { title: '$ETH above $3,100 on Apr 2, 21:00 UTC?', ends: '2027-04-02T21:00:00Z' },
    'identical',
  ],
  [
    'an index and an exchange may part',
    {
      id: 'KXETHD-27APR0217-T3099.99',
      title: 'Ethereum price on Apr 2, 2027 at 5pm EDT?',
      rules:
        "If the simple average of the sixty seconds of CF Benchmarks' Ethereum Real-Time Index (ERTI) before 5 PM EDT is above 3099.99 at 5 PM EDT on Apr 2, 2027, then the market resolves to Yes.",
    },
    { title: 'Ethereum above 3,100 on April 2, 5PM ET?', rules: BINANCE, ends: '2027-04-02T21:00:00Z' },
    'overlap',
  ],
  [
    'touching is not being there',
    { title: 'Will Ethereum reach $3,100 in April?', ends: '2027-05-01T04:00:00Z' },
    { title: 'Ethereum above 3,100 on April 2, 5PM ET?', ends: '2027-04-02T21:00:00Z' },
    'unknown',
  ],
  [
    'a longer window includes the touch',
    { title: 'Will Bitcoin reach $250,000 by June 30, 2027?' },
    { title: 'Will Bitcoin hit $250k by December 31, 2027?' },
    'subset',
  ],
  [
    'an arrow in a group says the side',
    { title: '↑ 92,000', eventTitle: 'What price will Bitcoin hit in May?', ends: '2027-06-01T04:00:00Z' },
    { title: 'Will Bitcoin reach $92,000 in May?', ends: '2027-06-01T04:00:00Z' },
    'identical',
  ],
  [
    'which of two levels comes first is no touch',
    { title: 'Will Bitcoin hit $80k or $150k first in 2027?' },
    { title: 'Will Bitcoin hit $150k by December 31, 2027?' },
    'unknown',
  ],
  [
    'a dip is another touch than a rise',
    { title: 'Will Bitcoin dip to $90,000 by June 30, 2027?' },
    { title: 'Will Bitcoin reach $90,000 by June 30, 2027?' },
    'unknown',
  ],
  [
    'a child that is only a date completes its group',
    { title: 'March 31, 2027', eventTitle: 'Bitcoin all time high by ___?' },
    { title: 'Bitcoin all time high by March 31, 2027?' },
    'identical',
  ],
  [
    'the deadline of a child is that of its title',
    { title: 'March 31, 2027', eventTitle: 'Bitcoin all time high by ___?' },
    { title: 'Bitcoin all time high by June 30, 2027?' },
    'subset',
  ],
  [
    'another launch in the same words',
    { title: 'Quill FDV above $300M one day after launch?', ends: '2027-12-31T00:00:00Z' },
    { title: 'Quartz FDV above $300M one day after launch?', ends: '2027-12-31T00:00:00Z' },
    'unknown',
  ],
  [
    'a later deadline of the same launch includes the earlier',
    { title: 'Quill FDV above $300M one day after launch?', ends: '2028-12-31T00:00:00Z' },
    { title: 'Quill FDV above $300M one day after launch?', ends: '2027-12-31T00:00:00Z' },
    'superset',
  ],
  [
    'a blank that nothing fills is no question',
    { title: 'Bitcoin above ___ on April 2?' },
    { title: 'Bitcoin above ___ on April 2?' },
    'unknown',
  ],
  [
    'two ranges whose edge belongs to the higher one',
    bitcoin('90,000', '92,000'),
    bitcoin('92,000', '94,000'),
    'disjoint',
  ],
];

test.each(CASES)('prices: %s', (_, a, b, relation) => {
  expect([relationOf(a, b), relationOf(b, a)]).toEqual([relation, mirrored(relation)]);
});
