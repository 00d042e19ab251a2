-- Events and series as the platforms describe them. Figures of an event are sums over its markets and are made where they are asked for:
-- stored here they would belong to another instant.
CREATE TABLE IF NOT EXISTS events (
  platform LowCardinality(String),
  event_id String CODEC(ZSTD(1)),
  event_key UInt64 DEFAULT sipHash64(toString(platform), event_id),
  series_id String CODEC(ZSTD(1)),
  slug String CODEC(ZSTD(1)),
  title String CODEC(ZSTD(3)),
  category LowCardinality(String),
  category_slug LowCardinality(String),
  tags Array(LowCardinality(String)),
  -- Whether at most one of its markets can pay.
  mutually_exclusive Nullable(Bool),
  image_url String CODEC(ZSTD(3)),
  source_url String CODEC(ZSTD(3)),
  -- Platform ids of its markets in the platform's order, as far as a body listed them.
  market_ids Array(String) CODEC(ZSTD(3)),
  version DateTime64(3, 'UTC'),
  search_title String MATERIALIZED trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')) CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, event_key)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384;

CREATE TABLE IF NOT EXISTS series (
  platform LowCardinality(String),
  series_id String CODEC(ZSTD(1)),
  title String CODEC(ZSTD(3)),
  category LowCardinality(String),
  category_slug LowCardinality(String),
  frequency Nullable(String) CODEC(ZSTD(1)),
  version DateTime64(3, 'UTC'),
  search_title String MATERIALIZED trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')) CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, series_id)
SETTINGS index_granularity = 256;

-- Which markets an event has, found by the event. A market that moved to another event leaves its row behind: readers compare it with
-- the event that its state names.
CREATE TABLE IF NOT EXISTS event_markets (
  platform LowCardinality(String),
  event_key UInt64,
  market_key UInt64,
  platform_id String CODEC(ZSTD(1)),
  version DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, event_key, market_key)
SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS event_markets_mv TO event_markets AS
SELECT platform, sipHash64(toString(platform), event_id) AS event_key, market_key, platform_id, version
FROM markets WHERE event_id != '';
