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

-- Markets whose order books clients stream, as the processes that serve them report repeatedly where nothing else is shared.
CREATE TABLE IF NOT EXISTS books_wanted (
  platform LowCardinality(String),
  ref String,
  written_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(written_at) ORDER BY (platform, ref)
TTL toDateTime(written_at) + toIntervalDay(1)
SETTINGS index_granularity = 1024;
