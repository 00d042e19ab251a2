-- Recorded order books of first outcomes. A sequence is epoch × 2^32 + n: each process that takes over a platform opens an
-- epoch (log_epochs, feed books), and n counts the messages of a market. A row sent twice is the same row.
CREATE TABLE IF NOT EXISTS book_changes (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref) CODEC(ZSTD(1)),
  outcome LowCardinality(String) CODEC(ZSTD(1)),
  sequence UInt64 CODEC(Delta, ZSTD(1)),
  side Enum8('bid' = 1, 'ask' = 2) CODEC(ZSTD(1)),
  price Decimal64(10) CODEC(ZSTD(1)),
  -- What rests there now; 0: nothing.
  size Decimal64(6) CODEC(ZSTD(1)),
  exchange_at Nullable(DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1)),
  received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  polled Bool CODEC(ZSTD(1)),
  -- The store's own clock: what processes that follow the table look for.
  written_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
  INDEX written written_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree PARTITION BY toDate(received_at) ORDER BY (platform, market_key, sequence, side, price)
TTL toDateTime(received_at) + toIntervalDay(30)
SETTINGS index_granularity = 4096, ttl_only_drop_parts = 1;

-- The whole book as it is behind all changes up to its sequence.
CREATE TABLE IF NOT EXISTS book_snapshots (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref) CODEC(ZSTD(1)),
  outcome LowCardinality(String) CODEC(ZSTD(1)),
  sequence UInt64 CODEC(Delta, ZSTD(1)),
  -- Whether no change leads to it: the first book of a market, and the first behind a gap.
  begins Bool CODEC(ZSTD(1)),
  bid_prices Array(Decimal64(10)) CODEC(ZSTD(3)),
  bid_sizes Array(Decimal64(6)) CODEC(ZSTD(3)),
  ask_prices Array(Decimal64(10)) CODEC(ZSTD(3)),
  ask_sizes Array(Decimal64(6)) CODEC(ZSTD(3)),
  exchange_at Nullable(DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1)),
  received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  polled Bool CODEC(ZSTD(1)),
  written_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
  INDEX written written_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree PARTITION BY toDate(received_at) ORDER BY (platform, market_key, sequence, received_at)
TTL toDateTime(received_at) + toIntervalDay(30)
SETTINGS index_granularity = 128, ttl_only_drop_parts = 1;

-- Stretches in which a book was not seen. The row of the book that ends one replaces the row of its beginning.
CREATE TABLE IF NOT EXISTS book_gaps (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref) CODEC(ZSTD(1)),
  from_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  to_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  reason LowCardinality(String) CODEC(ZSTD(1)),
  written_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
) ENGINE = ReplacingMergeTree(to_at) PARTITION BY toDate(from_at) ORDER BY (platform, market_key, from_at)
TTL toDateTime(from_at) + toIntervalDay(30)
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1;

-- What rests near the middle, once a minute, as the last snapshot of the minute had it. Never dropped.
CREATE TABLE IF NOT EXISTS book_depth (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref) CODEC(ZSTD(1)),
  minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
  -- All null where a side is empty: there is no middle.
  middle Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  bid_1c Nullable(Decimal64(6)) CODEC(ZSTD(1)), ask_1c Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  bid_5c Nullable(Decimal64(6)) CODEC(ZSTD(1)), ask_5c Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  bid_10c Nullable(Decimal64(6)) CODEC(ZSTD(1)), ask_10c Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  version DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
) ENGINE = ReplacingMergeTree(version) PARTITION BY toYYYYMM(minute) ORDER BY (platform, market_key, minute)
SETTINGS index_granularity = 1024;

CREATE OR REPLACE VIEW v_book_changes (
  market_key UInt64 COMMENT 'Joins to v_markets; a filter on it and platform reads one market only',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  outcome LowCardinality(String) COMMENT 'Id of the first outcome; the book of the second is its complement',
  exchange_at Nullable(DateTime64(3, 'UTC')) COMMENT 'By the platform; null where it gives no time',
  received_at DateTime64(3, 'UTC') COMMENT 'When this service received it',
  sequence UInt64 COMMENT 'Rises with each message of a market; the levels of one message share it',
  side Enum8('bid' = 1, 'ask' = 2) COMMENT 'Of the book',
  price Decimal64(10) COMMENT 'Of the first outcome, 0..1',
  size Decimal64(6) COMMENT 'Contracts that rest there now; 0 when the level is gone',
  polled Bool COMMENT 'Found by comparing two polled books; false when the platform sent the change itself'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, outcome, exchange_at, received_at, sequence, side, price, size, polled
FROM book_changes FINAL
COMMENT 'Changes of recorded order books, one row a level';

CREATE OR REPLACE VIEW v_books (
  market_key UInt64 COMMENT 'Joins to v_markets; a filter on it and platform reads one market only',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  outcome LowCardinality(String) COMMENT 'Id of the first outcome; the book of the second is its complement',
  exchange_at Nullable(DateTime64(3, 'UTC')) COMMENT 'By the platform; null where it gives no time',
  received_at DateTime64(3, 'UTC') COMMENT 'When the book was seen like this',
  sequence UInt64 COMMENT 'The book behind all changes up to this sequence',
  begins Bool COMMENT 'No change leads to it: the first book, or the first behind a gap',
  bids Array(Tuple(price Decimal64(10), size Decimal64(6))) COMMENT 'Best first: price of the first outcome, contracts',
  asks Array(Tuple(price Decimal64(10), size Decimal64(6))) COMMENT 'Best first',
  polled Bool COMMENT 'Read by polling; false when it is the book of a live feed'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, outcome, exchange_at, received_at, sequence, begins,
  arrayZip(bid_prices, bid_sizes) AS bids, arrayZip(ask_prices, ask_sizes) AS asks, polled
FROM book_snapshots FINAL
COMMENT 'Recorded order books as a whole, at least one a minute or 1,000 changes';

CREATE OR REPLACE VIEW v_book_gaps (
  market_key UInt64 COMMENT 'Joins to v_markets',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  from_at DateTime64(3, 'UTC') COMMENT 'When the book was last known',
  to_at DateTime64(3, 'UTC') COMMENT 'When it was known again',
  reason LowCardinality(String) COMMENT 'Why it was not'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, from_at, to_at, reason
FROM book_gaps FINAL
COMMENT 'Stretches in which a recorded order book is not known';

CREATE OR REPLACE VIEW v_depth (
  market_key UInt64 COMMENT 'Joins to v_markets',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  minute DateTime('UTC') COMMENT 'Start of the minute',
  middle Nullable(Decimal64(10)) COMMENT 'Between best bid and best ask of the first outcome; null when a side is empty',
  bid_size_1c Nullable(Decimal64(6)) COMMENT 'Contracts bid at most 1 cent below the middle; null without a middle',
  ask_size_1c Nullable(Decimal64(6)) COMMENT 'Contracts asked at most 1 cent above the middle',
  bid_size_5c Nullable(Decimal64(6)) COMMENT 'At most 5 cents below',
  ask_size_5c Nullable(Decimal64(6)) COMMENT 'At most 5 cents above',
  bid_size_10c Nullable(Decimal64(6)) COMMENT 'At most 10 cents below',
  ask_size_10c Nullable(Decimal64(6)) COMMENT 'At most 10 cents above'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, minute, middle, bid_1c AS bid_size_1c, ask_1c AS ask_size_1c, bid_5c AS bid_size_5c, ask_5c AS ask_size_5c,
  bid_10c AS bid_size_10c, ask_10c AS ask_size_10c
FROM book_depth FINAL
COMMENT 'Depth of recorded order books, by the minute';
