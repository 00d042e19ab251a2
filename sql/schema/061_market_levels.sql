-- The last logged state of each market; version is its position there, 0 for what was listed before the log began. A market
-- whose state differs has changed. Rebuilt from the log where the process was killed between the two.
CREATE TABLE IF NOT EXISTS market_levels (
  platform LowCardinality(String),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref),
  status LowCardinality(String),
  -- Hash of the status, the resolution and the content of the listing.
  fingerprint String EPHEMERAL '',
  item UInt64 DEFAULT sipHash64(fingerprint),
  version UInt64
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, market_key)
SETTINGS index_granularity = 1024;
