-- What changes rarely about a market. Rewritten only when its content changes.
CREATE TABLE IF NOT EXISTS markets (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String CODEC(ZSTD(1)),
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref),
  platform_id String CODEC(ZSTD(1)),
  slug String CODEC(ZSTD(3)),
  title String CODEC(ZSTD(3)),
  market_type LowCardinality(String),
  outcome_ids Array(LowCardinality(String)),
  outcome_names Array(String) CODEC(ZSTD(1)),
  token_ids Array(String) CODEC(ZSTD(1)),
  event_id String CODEC(ZSTD(1)),
  event_name String CODEC(ZSTD(1)),
  series_id String CODEC(ZSTD(1)),
  description String CODEC(ZSTD(3)),
  category LowCardinality(String),
  category_slug LowCardinality(String),
  subcategory Nullable(String) CODEC(ZSTD(1)),
  tags Array(LowCardinality(String)),
  source_url String CODEC(ZSTD(3)),
  image_url String CODEC(ZSTD(3)),
  created_at Nullable(DateTime64(3, 'UTC')),
  trading_start_at Nullable(DateTime64(3, 'UTC')),
  trading_end_at Nullable(DateTime64(3, 'UTC')),
  resolution_date Nullable(DateTime64(3, 'UTC')),
  resolution_criteria String CODEC(ZSTD(3)),
  resolution_source String CODEC(ZSTD(1)),
  metadata String CODEC(ZSTD(3)),
  -- When this service first saw the market; a listing as of an earlier instant leaves it out.
  first_seen_at DateTime64(3, 'UTC'),
  version DateTime64(3, 'UTC'),
  -- Folded as src/core/search-text.ts folds a query. Folded here: with a preprocessor of the text index ORDER BY … LIMIT drops rows
  -- without an error.
  search_title String MATERIALIZED trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(title)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' ')) CODEC(ZSTD(1)),
  search_words String MATERIALIZED concat(search_title, ' ', trimBoth(replaceRegexpAll(translateUTF8(replaceAll(replaceAll(replaceAll(replaceAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(toValidUTF8(description)), '\\p{M}+', '')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øłđðħŧıς', 'olddhtiσ'), '[^\\p{L}\\p{N}]+', ' '))) CODEC(ZSTD(1)),
  INDEX by_platform_id platform_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_slug slug TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_event event_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX searched search_words TYPE text(tokenizer = 'splitByNonAlpha')
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, market_key)
-- A market is a row in each column: small granules, small blocks.
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384;

-- What moves with trading: one narrow row a market, written by every sweep that saw a change. Lists filter and sort on it.
CREATE TABLE IF NOT EXISTS market_state (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref),
  status LowCardinality(String),
  category LowCardinality(String),
  category_slug LowCardinality(String),
  event_id String CODEC(ZSTD(1)),
  resolved_at Nullable(DateTime64(3, 'UTC')),
  prices Array(Nullable(Decimal64(10))),
  bids Array(Nullable(Decimal64(10))),
  asks Array(Nullable(Decimal64(10))),
  volume_24h Nullable(Decimal64(6)), volume_7d Nullable(Decimal64(6)), volume_30d Nullable(Decimal64(6)),
  volume_1y Nullable(Decimal64(6)), volume_total Nullable(Decimal64(6)),
  liquidity Decimal64(6),
  open_interest Nullable(Decimal64(6)),
  price_change_24h Nullable(Decimal64(10)), price_change_7d Nullable(Decimal64(10)),
  trading_start_at Nullable(DateTime64(3, 'UTC')),
  trading_end_at Nullable(DateTime64(3, 'UTC')),
  created_at Nullable(DateTime64(3, 'UTC')),
  first_seen_at DateTime64(3, 'UTC'),
  metadata String CODEC(ZSTD(1)),
  synced_at DateTime64(3, 'UTC'),
  -- The store's clock at the insert: a listing as of an instant goes by it.
  written_at DateTime64(3, 'UTC') DEFAULT now64(3),
  -- A book that was not read yet is unknown, not empty.
  liquidity_known Bool MATERIALIZED NOT (status IN ('open', 'paused') AND JSONExtractString(metadata, 'liquidity_basis') = 'none'),
  -- Stands for outcomes that an event does not list by name; the platform hides it.
  is_placeholder Bool DEFAULT false CODEC(ZSTD(1)),
  -- A bet on several markets at once. No list has it unless it is asked for.
  is_combo Bool DEFAULT false CODEC(ZSTD(1)),
  -- Fingerprints of the record as the platform sent it: a process that starts knows from them what has not changed.
  sent_info UInt64 DEFAULT 0,
  sent_state UInt64 DEFAULT 0,
  INDEX written written_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(synced_at) ORDER BY (platform, market_key)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384;

-- The platform's own objects as received, apart from the tables that are searched and sorted.
CREATE TABLE IF NOT EXISTS market_raw (
  platform LowCardinality(String),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref),
  raw String CODEC(ZSTD(3)),
  version DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, market_key)
SETTINGS index_granularity = 256;

-- Prices, top of book and totals over time: a row whenever a sweep saw a change, and at least every five minutes of sweeping.
-- Price changes, spreads, bid/ask bars, volume differences and listings as of an earlier instant come from here.
CREATE TABLE IF NOT EXISTS market_snapshots (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref) CODEC(ZSTD(1)),
  at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  status LowCardinality(String) CODEC(ZSTD(1)),
  price Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  bid Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  ask Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  volume_24h Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  volume_total Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  open_interest Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  liquidity Decimal64(6) CODEC(ZSTD(1)),
  trading_end_at Nullable(DateTime64(3, 'UTC')) CODEC(ZSTD(1)),
  written_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(ZSTD(1)),
  liquidity_known Bool DEFAULT true CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(at) ORDER BY (market_key, at)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 1000, replicated_deduplication_window = 1000;

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

-- Names of markets for rows that carry a market key alone: a look-up in memory costs less than a join, and nothing where no name is
-- asked for. Loaded at the first look-up; from then on, what was stored since is added every minute.
CREATE OR REPLACE VIEW named_markets AS SELECT market_key, platform_id AS market_id, title, version FROM markets FINAL;

CREATE DICTIONARY IF NOT EXISTS market_names (market_key UInt64, market_id String, title String) PRIMARY KEY market_key
SOURCE(CLICKHOUSE(TABLE 'named_markets' UPDATE_FIELD 'version' UPDATE_LAG 120)) LAYOUT(HASHED_ARRAY()) LIFETIME(MIN 30 MAX 60);
