-- The events that streams send: one row an event, in the order in which it was stored. A position is epoch × 2^32 + n; n counts from 1 without
-- holes in an epoch. Each feed of a platform has one writer at a time, which opens an epoch when it takes over.
CREATE TABLE IF NOT EXISTS log_epochs (
  feed LowCardinality(String),
  platform LowCardinality(String),
  epoch UInt32,
  -- Who opened it: two rows of one epoch are a race, and the greater end counts.
  opener UUID,
  -- The n of the last row of the epoch before that counts; rows of that epoch behind it came too late and are ignored.
  previous_end UInt32,
  opened_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(previous_end) ORDER BY (feed, platform, epoch, opener)
SETTINGS index_granularity = 1024;

-- A row sent twice holds the same at the same position. Whole days are dropped for their age, so that no hole is left between rows.
CREATE TABLE IF NOT EXISTS event_log (
  feed LowCardinality(String) CODEC(ZSTD(1)),
  platform LowCardinality(String) CODEC(ZSTD(1)),
  sequence UInt64 CODEC(Delta, ZSTD(1)),
  -- The market, and the event it belongs to: what subscriptions are filtered by.
  ref String CODEC(ZSTD(1)),
  event_id String CODEC(ZSTD(1)),
  -- Of a trade; 0 elsewhere.
  size Decimal64(6) CODEC(ZSTD(1)),
  notional Decimal64(6) CODEC(ZSTD(1)),
  -- What the event is about, to find what is not logged: the id of a trade; '' elsewhere.
  item_text String EPHEMERAL '',
  item UInt64 DEFAULT sipHash64(item_text) CODEC(ZSTD(1)),
  -- The event as JSON, without what is known at sending only.
  data String CODEC(ZSTD(3)),
  logged_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
) ENGINE = ReplacingMergeTree PARTITION BY toDate(logged_at) ORDER BY (feed, platform, sequence)
TTL toDateTime(logged_at) + toIntervalDay(30)
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1;
