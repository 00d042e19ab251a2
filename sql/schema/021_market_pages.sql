-- What changes rarely about a market, once more: read by the row, from parts of one file, so that fifty markets are fifty seeks and not as
-- many for each column. Of two million markets that takes a third of the time. Lists, searches and scans go on reading by the column.
-- After a crash that left only a row here, the market is written again as for `markets`: its state, written last, is missing too.
CREATE TABLE IF NOT EXISTS market_info_rows (
  platform LowCardinality(String),
  market_key UInt64,
  platform_id String,
  slug String,
  title String,
  market_type LowCardinality(String),
  outcome_ids Array(LowCardinality(String)),
  outcome_names Array(String),
  event_id String,
  event_name String,
  series_id String,
  description String,
  category LowCardinality(String),
  subcategory Nullable(String),
  tags Array(LowCardinality(String)),
  source_url String,
  image_url String,
  created_at Nullable(DateTime64(3, 'UTC')),
  trading_start_at Nullable(DateTime64(3, 'UTC')),
  trading_end_at Nullable(DateTime64(3, 'UTC')),
  resolution_date Nullable(DateTime64(3, 'UTC')),
  resolution_criteria String,
  resolution_source String,
  metadata String,
  first_seen_at DateTime64(3, 'UTC'),
  version DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, market_key)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384, min_bytes_for_wide_part = 1000000000000;

CREATE MATERIALIZED VIEW IF NOT EXISTS market_info_rows_mv TO market_info_rows AS
SELECT platform, market_key, platform_id, slug, title, market_type, outcome_ids, outcome_names, event_id, event_name, series_id, description,
  category, subcategory, tags, source_url, image_url, created_at, trading_start_at, trading_end_at, resolution_date, resolution_criteria,
  resolution_source, metadata, first_seen_at, version
FROM markets;

-- Of a store that was filled before: what is written meanwhile is inserted twice and merged.
INSERT INTO market_info_rows
SELECT platform, market_key, platform_id, slug, title, market_type, outcome_ids, outcome_names, event_id, event_name, series_id, description,
  category, subcategory, tags, source_url, image_url, created_at, trading_start_at, trading_end_at, resolution_date, resolution_criteria,
  resolution_source, metadata, first_seen_at, version
FROM markets;
