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

/** Rules that state the level without its sign. */
const AT_NOON =
  'This market resolves to Yes if the Binance BTC/USDT close of the one minute candle at 12PM ET on April 2, 2027 is above 90,000. Otherwise it resolves to No.';

const CASES: readonly Case[] = [
  [
    'a level with and without its sign is one level',
    { title: 'Bitcoin above 90,000 on April 2, 2027, 12PM ET?', rules: AT_NOON },
    { title: 'Will the price of BTC be above $90,000 on April 2, 2027, 12PM ET?', rules: AT_NOON },
    'identical',
  ],
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
  ...[
    ['$0.2164', '$0.2119'],
    ['$0.00001731', '$0.00001698'],
    ['$1.2375', '$1.2350'],
  ].map(([higher, lower]): Case => [
    `levels finer than a cent: ${higher}`,
    { title: `Will Cardano be above ${higher} on April 2, 2027, 5PM ET?` },
    { title: `Will Cardano be above ${lower} on April 2, 2027, 5PM ET?` },
    'subset',
  ]),
  ...[
    ['XRP', '2.05', '2.06'],
    ['EUR/USD', '1.10', '1.11'],
    ['USD/JPY', '150.25', '150.26'],
    ['Solana', '140.25', '140.26'],
  ].map(([asset, lower, higher]): Case => [
    `prices finer than a cent lie between two cents: ${asset}`,
    { title: `Will ${asset} be above ${lower} on April 2, 2027, 5PM ET?` },
    { title: `Will ${asset} be ${higher} or above on April 2, 2027, 5PM ET?` },
    'superset',
  ]),
  ...['Bitcoin', 'Ethereum', 'gold', 'Apple'].map((asset): Case => [
    `prices of whole cents lie on a cent: ${asset}`,
    { title: `Will ${asset} be above $3,099.99 on April 2, 2027, 5PM ET?` },
    { title: `Will ${asset} be $3,100 or above on April 2, 2027, 5PM ET?` },
    'identical',
  ]),
  ...[
    'Ethereum above €3,100',
    'ETH/BTC above 3,100',
    'Ethereum dominance above 3,100',
    'Ethereum volume above $3,100',
  ].map((title): Case => [
    `something else than the price in dollars: ${title}`,
    { title: `${title} on April 2, 2027, 5PM ET?` },
    { title: 'Ethereum above $3,100 on April 2, 2027, 5PM ET?' },
    'unknown',
  ]),
  [
    'a touch before another touch is not the touch',
    { title: 'Will Solana hit $400 before Ethereum hits $9,000 in 2027?' },
    { title: 'Will Solana hit $400 in 2027?' },
    'unknown',
  ],
  ...[
    'before 2028',
    'before January 1, 2028',
    'before 12:00 AM ET on January 1, 2028',
    'by 11:59 PM ET on December 31, 2027',
    'on or before December 31, 2027',
  ].map((window): Case => [
    `one window of a touch in other words: ${window}`,
    { title: `Will Bitcoin reach $150,000 ${window}?` },
    { title: 'Will Bitcoin hit $150k by December 31, 2027?' },
    'identical',
  ]),
  [
    'a touch after a day is less than one at any time before the end',
    { title: 'Will Bitcoin reach $150,000 after June 1, 2027 and before 2028?' },
    { title: 'Will Bitcoin reach $150,000 before 2028?' },
    'unknown',
  ],
  [
    'before an instant is not at it',
    { title: 'Will Bitcoin be above $150,000 before April 2, 2027, 5PM ET?' },
    { title: 'Will Bitcoin be above $150,000 on April 2, 2027, 5PM ET?' },
    'unknown',
  ],
  [
    'by an instant is not at it',
    { title: 'Will Bitcoin be above $150,000 by April 2, 2027, 5PM ET?' },
    { title: 'Will Bitcoin be above $150,000 on April 2, 2027, 5PM ET?' },
    'unknown',
  ],
  ...[
    'Will Bitcoin be above $150,000 on Friday, April 2, 2027, 5PM ET?',
    'Will Bitcoin be above $150,000 on Fri Apr 2, 2027 at 5PM ET?',
    'Will BTC settle above $150,000 on April 2, 2027, 5PM ET?',
    'Will Bitcoin be above $150,000 on April 2, 2027, 5PM ET according to Binance?',
    'According to Binance, will Bitcoin be above $150,000 on April 2, 2027, 5PM ET?',
  ].map((title): Case => [
    `words that ask nothing else: ${title}`,
    { title },
    { title: 'Bitcoin above 150,000 on April 2, 2027, 5PM ET?' },
    'identical',
  ]),
  [
    'a company by its name and its legal form',
    { title: 'Will Apple Inc. close above $300 on April 2, 2027?' },
    { title: 'Will AAPL close above $300 on Apr 2, 2027?' },
    'identical',
  ],
  [
    'a title that names another source than the rules of the other',
    { title: 'Will Ethereum be above $3,100 on April 2, 2027, 12PM ET according to Kraken?' },
    { title: 'Will Ethereum be above $3,100 on April 2, 2027, 12PM ET?', rules: BINANCE },
    'overlap',
  ],
  [
    'a source that no table knows is no plain word',
    { title: 'Will Ethereum be above $3,100 on April 2, 2027, 12PM ET according to Tarnbook?' },
    { title: 'Will Ethereum be above $3,100 on April 2, 2027, 12PM ET?' },
    'unknown',
  ],
  [
    'a clock of another zone is not one of New York',
    { title: 'Ethereum above $3,100 on April 2, 2027, 9AM PT?' },
    { title: 'Ethereum above $3,100 on April 2, 2027, 9AM ET?' },
    'unknown',
  ],
  [
    'an hour that New York has twice is left open',
    upDown('Ethereum Up or Down - November 7, 2027, 1:30AM-1:45AM ET'),
    upDown('Ethereum Up or Down - November 7, 2027, 6:30AM-6:45AM UTC'),
    'unknown',
  ],
  [
    'the hour after it is not',
    upDown('Ethereum Up or Down - November 7, 2027, 2:30AM-2:45AM ET'),
    upDown('Ethereum Up or Down - November 7, 2027, 7:30AM-7:45AM UTC'),
    'identical',
  ],
  [
    'a settlement and a fixing are two prices',
    {
      title: 'Will gold close above $6,000 on April 2, 2027?',
      rules: 'If the CME settlement price of Gold is above 6000 on April 2, 2027, then the market resolves to Yes.',
    },
    {
      title: 'Will gold close above $6,000 on April 2, 2027?',
      rules: 'If the LBMA fix of gold is above 6000 on April 2, 2027, then the market resolves to Yes.',
    },
    'overlap',
  ],
  [
    'Nasdaq alone may be either index',
    { title: 'Will the Nasdaq close above 20000 on March 31, 2027?' },
    { title: 'Will the Nasdaq-100 close above 20000 on March 31, 2027?' },
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
