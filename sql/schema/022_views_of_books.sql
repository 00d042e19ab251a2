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
COMMENT 'Recorded order books as a whole, at least one a minute or 1,000 changes';

CREATE OR REPLACE VIEW v_book_changes (
  market_key UInt64 COMMENT 'Joins to v_markets; a filter on it and platform reads one market only',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  outcome LowCardinality(String) COMMENT 'Id of the first outcome; the book of the second is its complement',
  exchange_at Nullable(DateTime64(3, 'UTC')) COMMENT 'By the platform; null where it gives no time',
  time DateTime64(3, 'UTC') COMMENT 'When this service received it',
  received_at DateTime64(3, 'UTC') COMMENT 'As time',
  sequence UInt64 COMMENT 'Rises with each message of a market; the levels of one message share it',
  side Enum8('bid' = 1, 'ask' = 2) COMMENT 'Of the book',
  price Decimal(38, 10) COMMENT 'Of the first outcome, 0..1',
  size Decimal(38, 6) COMMENT 'Contracts that rest there now; 0 when the level is gone',
  polled Bool COMMENT 'Found by comparing two polled books; false when the platform sent the change itself'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, outcome, exchange_at, received_at AS time, received_at, sequence, side,
  toDecimal128(price, 10) AS price, toDecimal128(size, 6) AS size, polled
FROM book_changes FINAL
COMMENT 'Changes of recorded order books, one row a level';

CREATE OR REPLACE VIEW v_book_gaps (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  time DateTime64(3, 'UTC') COMMENT 'When the book was last known',
  from_at DateTime64(3, 'UTC') COMMENT 'As time',
  to_at DateTime64(3, 'UTC') COMMENT 'When it was known again',
  reason LowCardinality(String) COMMENT 'Why it was not'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, from_at AS time, from_at, to_at, reason
FROM book_gaps FINAL
COMMENT 'Stretches in which a recorded order book is not known';

CREATE OR REPLACE VIEW v_depth (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  time DateTime('UTC') COMMENT 'Start of the minute',
  minute DateTime('UTC') COMMENT 'As time',
  middle Nullable(Decimal(38, 10)) COMMENT 'Between best bid and best ask of the first outcome; null when a side is empty',
  bid_size_1c Nullable(Decimal(38, 6)) COMMENT 'Contracts bid at most 1 cent below the middle; null without a middle',
  ask_size_1c Nullable(Decimal(38, 6)) COMMENT 'Contracts asked at most 1 cent above the middle',
  bid_size_5c Nullable(Decimal(38, 6)) COMMENT 'At most 5 cents below',
  ask_size_5c Nullable(Decimal(38, 6)) COMMENT 'At most 5 cents above',
  bid_size_10c Nullable(Decimal(38, 6)) COMMENT 'At most 10 cents below',
  ask_size_10c Nullable(Decimal(38, 6)) COMMENT 'At most 10 cents above'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, minute AS time, minute, toDecimal128(middle, 10) AS middle, toDecimal128(bid_1c, 6) AS bid_size_1c, toDecimal128(ask_1c, 6) AS ask_size_1c,
  toDecimal128(bid_5c, 6) AS bid_size_5c, toDecimal128(ask_5c, 6) AS ask_size_5c,
  toDecimal128(bid_10c, 6) AS bid_size_10c, toDecimal128(ask_10c, 6) AS ask_size_10c
FROM book_depth FINAL
COMMENT 'Depth of recorded order books, by the minute';
