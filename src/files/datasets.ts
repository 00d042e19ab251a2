/** The datasets of day files. A known one that is not recorded here has no files. */
export const DATASETS = ['trades', 'candles_1m', 'candles_1h', 'markets', 'quotes', 'book_changes'] as const;
export type Dataset = (typeof DATASETS)[number];

/** How a recorded dataset is made. */
interface RecordedDataset {
  /** sql/queries/<name>.sql: the rows of {platform} and {day}, sorted by market and time. */
  query: string;
  /** Whose days it has: those with trades, or those on which markets were read. */
  days: 'trades' | 'markets';
}

/** Datasets that exist. Columns are only ever added; a change of their meaning raises SCHEMA_VERSION. */
export const RECORDED: Partial<Record<Dataset, RecordedDataset>> = {
  trades: { query: 'file_trades', days: 'trades' },
  candles_1m: { query: 'file_candles_1m', days: 'trades' },
  candles_1h: { query: 'file_candles_1h', days: 'trades' },
  markets: { query: 'file_markets', days: 'markets' },
};

export const SCHEMA_VERSION = 1;
