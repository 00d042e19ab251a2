/** The datasets of day files. */
export const DATASETS = ['trades', 'candles_1m', 'candles_1h', 'markets', 'quotes', 'book_changes'] as const;
export type Dataset = (typeof DATASETS)[number];

/** The source of a dataset. */
export interface DatasetSource {
  /** sql/queries/<name>.sql: the rows of {platform} and {day}, sorted by market and time. */
  query: string;
  /** The days it covers: those with trades, with quotes, or with recorded changes of order books. */
  days: 'trades' | 'quotes' | 'books';
  /** {table} of its query, where rows are bars computed from trades: a day changes with its trades, and when bars are corrected. */
  table?: 'candles_1m' | 'candles_1h';
  /** The table whose old rows may be dropped; null if none are. */
  forgets: 'trades' | 'market_snapshots' | 'book_changes' | null;
}

/** Columns are only ever added; a change of their meaning raises SCHEMA_VERSION. */
export const SOURCES: Record<Dataset, DatasetSource> = {
  trades: { query: 'file_trades', days: 'trades', forgets: 'trades' },
  candles_1m: { query: 'file_candles', days: 'trades', table: 'candles_1m', forgets: null },
  candles_1h: { query: 'file_candles', days: 'trades', table: 'candles_1h', forgets: null },
  markets: { query: 'file_markets', days: 'quotes', forgets: 'market_snapshots' },
  quotes: { query: 'file_quotes', days: 'quotes', forgets: 'market_snapshots' },
  book_changes: { query: 'file_book_changes', days: 'books', forgets: 'book_changes' },
};

/** 2: prices, sizes and money are doubles; they were decimals. */
export const SCHEMA_VERSION = 2;
