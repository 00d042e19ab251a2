import { GRIDS, type Grid } from './grid.ts';

export type FeeType = 'quadratic' | 'quadratic_with_maker_fees' | 'quadratic_with_combo_maker_fees';

export interface SeriesSpec {
  ticker: string;
  /** The name before it was renamed; old events and markets keep it in their tickers. */
  formerTicker?: string;
  title: string;
  category: string;
  tags: string[] | null;
  frequency: string;
  sources: { name: string; url: string }[] | null;
  feeType: FeeType;
  feeMultiplier: number;
  exchangeIndex: 0 | 1 | 2 | 3;
  grid: Grid;
  productMetadata?: Record<string, string>;
}

const series = (
  ticker: string,
  title: string,
  category: string,
  rest: Partial<SeriesSpec> & Pick<SeriesSpec, 'frequency' | 'tags'>,
): SeriesSpec => ({
  ticker,
  title,
  category,
  sources: [{ name: `${category} Bureau`, url: `https://example.com/${ticker.toLowerCase()}` }],
  feeType: 'quadratic',
  feeMultiplier: 1,
  exchangeIndex: 0,
  grid: GRIDS.linearCent,
  ...rest,
});

const CITIES = ['Lakemont', 'Port Arden', 'Halden', 'Westbrook', 'Corvana', 'Ridgeley'] as const;

export const WEATHER: readonly SeriesSpec[] = CITIES.map((city) =>
  series(
    `KXHIGH${city.replace(/\W/g, '').slice(0, 4).toUpperCase()}`,
    `Highest temperature in ${city}`,
    'Climate and Weather',
    {
      tags: city === 'Halden' ? null : ['Daily temperature'],
      frequency: 'daily',
      sources: [{ name: 'Weather Service Climatological Report', url: 'https://example.com/climate' }],
    },
  ),
);

export const GAMES: readonly SeriesSpec[] = [
  series('KXCOASTGAME', 'Coast League Game', 'Sports', {
    tags: ['Basketball'],
    frequency: 'custom',
    exchangeIndex: 3,
    productMetadata: { competition: 'Coast League', competition_scope: 'Game' },
    // A placeholder the platform itself sends for sources that are to be announced.
    sources: [{ name: 'Coast League', url: 'https://kalshi.com/' }],
  }),
  series('KXDIAMONDGAME', 'Diamond League Game', 'Sports', {
    tags: ['Baseball', 'Diamond'],
    frequency: 'custom',
    exchangeIndex: 3,
    feeType: 'quadratic_with_maker_fees',
    productMetadata: { competition: 'Diamond League', competition_scope: 'Game' },
  }),
];

export const RATE: SeriesSpec = series('KXBASERATE', 'Base rate after the meeting', 'Economics', {
  formerTicker: 'BASERATE',
  tags: ['Central bank', 'Rates'],
  frequency: 'custom',
});

export const COIN: readonly SeriesSpec[] = [
  series('KXCOIN5M', 'Coin price up in 5 minutes', 'Crypto', {
    tags: ['Coin', '5 min'],
    frequency: 'five_min',
    exchangeIndex: 2,
    grid: GRIDS.taperedDeciCent,
  }),
  series('KXLEDGER5M', 'Ledger price up in 5 minutes', 'Crypto', {
    tags: ['Ledger', '5 min'],
    frequency: 'five_min',
    exchangeIndex: 2,
    grid: GRIDS.taperedDeciCent,
  }),
];

export const ELECTION: readonly SeriesSpec[] = ['Elm', 'Oak', 'Birch'].map((state) =>
  series(`KXGOV${state.toUpperCase()}`, `${state} State governor`, 'Elections', {
    tags: ['US Elections', 'Governor'],
    frequency: 'one_off',
  }),
);

export const MENTION: SeriesSpec = series('KXSPEECHSAY', 'What will the chair say?', 'Mentions', {
  tags: null,
  frequency: 'custom',
  sources: null,
});

export const CHART: SeriesSpec = series('KXTOPSONG', 'Song at number one', 'Entertainment', {
  tags: ['Music charts'],
  frequency: 'weekly',
  feeType: 'quadratic_with_maker_fees',
  feeMultiplier: 0.5,
  grid: GRIDS.deciCent,
});

export const INDEX: SeriesSpec = series('KXINDEXCLOSE', 'Index at the close', 'Financials', {
  tags: ['Indices'],
  frequency: 'daily',
  feeMultiplier: 0.5,
});

export const COMBO: SeriesSpec = series('KXMVEMIXED', 'Mixed combos', 'Sports', {
  tags: ['Combos'],
  frequency: 'custom',
  feeType: 'quadratic_with_combo_maker_fees',
  exchangeIndex: 1,
  grid: GRIDS.combo,
});

export const ALL_SERIES: readonly SeriesSpec[] = [
  ...WEATHER,
  ...GAMES,
  RATE,
  ...COIN,
  ...ELECTION,
  MENTION,
  CHART,
  INDEX,
  COMBO,
];
