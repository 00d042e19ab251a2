-- How far each feed has been stored. Written only after the rows themselves were acknowledged; the newest row counts.
-- ref is '' for a feed over all markets of a platform.
CREATE TABLE IF NOT EXISTS trade_coverage (
  platform LowCardinality(String),
  ref String,
  market_key UInt64 DEFAULT if(ref = '', 0, sipHash64(toString(platform), ref)),
  -- Every trade executed in [complete_from, complete_to] is stored.
  complete_from DateTime64(6, 'UTC'),
  complete_to DateTime64(6, 'UTC'),
  -- The platform's own volume when it was read, for feeds that are polled when it moves; '' elsewhere.
  marker String,
  version DateTime64(6, 'UTC') DEFAULT now64(6)
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, market_key)
SETTINGS index_granularity = 1024;

-- When each job last ran, how far it got and with what result: the source of lag and freshness.
CREATE TABLE IF NOT EXISTS ingestion_runs (
  platform LowCardinality(String),
  job LowCardinality(String),
  started_at DateTime64(3, 'UTC'),
  finished_at DateTime64(3, 'UTC'),
  ok Bool,
  -- The instant up to which the job's data is complete.
  fresh_to DateTime64(3, 'UTC'),
  rows UInt64,
  bad_rows UInt64,
  -- Fields that were left out of rows which were kept, apart from rows that were left out.
  bad_fields UInt64 DEFAULT 0,
  note String CODEC(ZSTD(1)),
  worker String
) ENGINE = MergeTree PARTITION BY toYYYYMM(started_at) ORDER BY (platform, job, started_at)
TTL toDateTime(started_at) + INTERVAL 30 DAY
SETTINGS index_granularity = 1024;

-- Spans a feed could not deliver (a platform's cap); filled market by market, then closed by a row with filled = 1.
CREATE TABLE IF NOT EXISTS trade_gaps (
  platform LowCardinality(String),
  gap_from DateTime64(6, 'UTC'),
  gap_to DateTime64(6, 'UTC'),
  filled UInt8,
  version DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, gap_from, gap_to);

-- Markets whose trades a writer that had lost its lease stored twice; one that was merged since stays here. The views read only these
-- with FINAL: writers skip what is stored, so no other market has a row twice.
CREATE TABLE IF NOT EXISTS doubled_markets (
  market_key UInt64
) ENGINE = ReplacingMergeTree ORDER BY market_key
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;
