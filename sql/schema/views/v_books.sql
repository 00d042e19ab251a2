CREATE OR REPLACE VIEW v_books (
  market_key UInt64 COMMENT 'Joins to v_markets; a filter on it and platform reads one market only',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  outcome LowCardinality(String) COMMENT 'Id of the first outcome; the book of the second is its complement',
  exchange_at Nullable(DateTime64(3, 'UTC')) COMMENT 'By the platform; null where it gives no time',
  time DateTime64(3, 'UTC') COMMENT 'When the book was seen like this',
  received_at DateTime64(3, 'UTC') COMMENT 'As time',
  sequence UInt64 COMMENT 'The book behind all changes up to this sequence',
  begins Bool COMMENT 'No change leads to it: the first book, or the first behind a gap',
  bids Array(Tuple(price Decimal(38, 10), size Decimal(38, 6))) COMMENT 'Best first: price of the first outcome, contracts',
  asks Array(Tuple(price Decimal(38, 10), size Decimal(38, 6))) COMMENT 'Best first',
  polled Bool COMMENT 'Read by polling; false when it is the book of a live feed'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, outcome, exchange_at, received_at AS time, received_at, sequence, begins,
  CAST(arrayZip(bid_prices, bid_sizes) AS Array(Tuple(price Decimal(38, 10), size Decimal(38, 6)))) AS bids,
  CAST(arrayZip(ask_prices, ask_sizes) AS Array(Tuple(price Decimal(38, 10), size Decimal(38, 6)))) AS asks, polled
FROM book_snapshots FINAL
COMMENT 'Recorded order books as a whole, at least one a minute or 1,000 changes'
