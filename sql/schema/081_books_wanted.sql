-- Markets whose order books clients stream, as the processes that serve them report repeatedly where nothing else is shared.
CREATE TABLE IF NOT EXISTS books_wanted (
  platform LowCardinality(String),
  ref String,
  written_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(written_at) ORDER BY (platform, ref)
TTL toDateTime(written_at) + toIntervalDay(1)
SETTINGS index_granularity = 1024;
