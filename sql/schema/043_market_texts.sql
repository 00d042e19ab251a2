-- The answer of a market as text: what changes rarely, and what moves with trading, one column each. One statement reads both; reading
-- by the column took several times as long. Lists, searches and scans go on reading by the column.
-- After a crash that left only a row here, the market is written again as for `markets`: it was not acknowledged.
-- Dates are cut to milliseconds and decimals are text, whatever the settings of the insert are.
CREATE TABLE IF NOT EXISTS market_info_texts (
  platform LowCardinality(String),
  market_key UInt64,
  body String CODEC(ZSTD(1)),
  version DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, market_key)
SETTINGS index_granularity = 64, min_compress_block_size = 4096, max_compress_block_size = 16384, min_bytes_for_wide_part = 1000000000000;

CREATE MATERIALIZED VIEW IF NOT EXISTS market_info_texts_mv TO market_info_texts AS
SELECT platform, market_key, concat(
    '{"platform_id":', toJSONString(platform_id),
    ',"title":', toJSONString(title),
    ',"market_type":', toJSONString(market_type),
    ',"outcome_ids":', toJSONString(outcome_ids),
    ',"outcome_names":', toJSONString(outcome_names),
    ',"event_id":', toJSONString(event_id),
    ',"event_name":', toJSONString(event_name),
    ',"series_id":', toJSONString(series_id),
    ',"slug":', toJSONString(slug),
    ',"description":', toJSONString(description),
    ',"category":', toJSONString(category),
    ',"subcategory":', ifNull(toJSONString(subcategory), 'null'),
    ',"tags":', toJSONString(tags),
    ',"source_url":', toJSONString(source_url),
    ',"image_url":', toJSONString(image_url),
    ',"created_at":', toJSONString(concat(replaceOne(substring(toString(ifNull(created_at, first_seen_at)), 1, 23), ' ', 'T'), 'Z')),
    ',"trading_start_at":', ifNull(toJSONString(concat(replaceOne(substring(toString(trading_start_at), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"trading_end_at":', ifNull(toJSONString(concat(replaceOne(substring(toString(trading_end_at), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"resolution_date":', ifNull(toJSONString(concat(replaceOne(substring(toString(resolution_date), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"resolution_criteria":', toJSONString(resolution_criteria),
    ',"resolution_source":', toJSONString(resolution_source),
    ',"info_metadata":', toJSONString(metadata), '}'
  ) AS body, version
FROM markets;

-- Of a store that was filled before: what is written meanwhile is inserted twice and merged.
INSERT INTO market_info_texts
SELECT platform, market_key, concat(
    '{"platform_id":', toJSONString(platform_id),
    ',"title":', toJSONString(title),
    ',"market_type":', toJSONString(market_type),
    ',"outcome_ids":', toJSONString(outcome_ids),
    ',"outcome_names":', toJSONString(outcome_names),
    ',"event_id":', toJSONString(event_id),
    ',"event_name":', toJSONString(event_name),
    ',"series_id":', toJSONString(series_id),
    ',"slug":', toJSONString(slug),
    ',"description":', toJSONString(description),
    ',"category":', toJSONString(category),
    ',"subcategory":', ifNull(toJSONString(subcategory), 'null'),
    ',"tags":', toJSONString(tags),
    ',"source_url":', toJSONString(source_url),
    ',"image_url":', toJSONString(image_url),
    ',"created_at":', toJSONString(concat(replaceOne(substring(toString(ifNull(created_at, first_seen_at)), 1, 23), ' ', 'T'), 'Z')),
    ',"trading_start_at":', ifNull(toJSONString(concat(replaceOne(substring(toString(trading_start_at), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"trading_end_at":', ifNull(toJSONString(concat(replaceOne(substring(toString(trading_end_at), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"resolution_date":', ifNull(toJSONString(concat(replaceOne(substring(toString(resolution_date), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"resolution_criteria":', toJSONString(resolution_criteria),
    ',"resolution_source":', toJSONString(resolution_source),
    ',"info_metadata":', toJSONString(metadata), '}'
  ) AS body, version
FROM markets;

CREATE TABLE IF NOT EXISTS market_state_texts (
  platform LowCardinality(String),
  market_key UInt64,
  body String CODEC(ZSTD(1)),
  synced_at DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(synced_at) ORDER BY (platform, market_key)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384, min_bytes_for_wide_part = 1000000000000;

CREATE MATERIALIZED VIEW IF NOT EXISTS market_state_texts_mv TO market_state_texts AS
SELECT platform, market_key, concat(
    '{"status":', toJSONString(status),
    ',"prices":', toJSONString(arrayMap(x -> toString(x), prices)),
    ',"bids":', toJSONString(arrayMap(x -> toString(x), bids)),
    ',"asks":', toJSONString(arrayMap(x -> toString(x), asks)),
    ',"last_synced_at":', toJSONString(concat(replaceOne(substring(toString(synced_at), 1, 23), ' ', 'T'), 'Z')),
    ',"volume_24h":', ifNull(toJSONString(toString(volume_24h)), 'null'),
    ',"volume_7d":', ifNull(toJSONString(toString(volume_7d)), 'null'),
    ',"volume_total":', ifNull(toJSONString(toString(volume_total)), 'null'),
    ',"liquidity":', toJSONString(toString(liquidity)),
    ',"open_interest":', ifNull(toJSONString(toString(open_interest)), 'null'),
    ',"resolved_at":', ifNull(toJSONString(concat(replaceOne(substring(toString(resolved_at), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"price_change_24h":', ifNull(toJSONString(toString(price_change_24h)), 'null'),
    ',"price_change_7d":', ifNull(toJSONString(toString(price_change_7d)), 'null'),
    ',"state_metadata":', toJSONString(metadata), '}'
  ) AS body, synced_at
FROM market_state;

-- Of a store that was filled before: what is written meanwhile is inserted twice and merged.
INSERT INTO market_state_texts
SELECT platform, market_key, concat(
    '{"status":', toJSONString(status),
    ',"prices":', toJSONString(arrayMap(x -> toString(x), prices)),
    ',"bids":', toJSONString(arrayMap(x -> toString(x), bids)),
    ',"asks":', toJSONString(arrayMap(x -> toString(x), asks)),
    ',"last_synced_at":', toJSONString(concat(replaceOne(substring(toString(synced_at), 1, 23), ' ', 'T'), 'Z')),
    ',"volume_24h":', ifNull(toJSONString(toString(volume_24h)), 'null'),
    ',"volume_7d":', ifNull(toJSONString(toString(volume_7d)), 'null'),
    ',"volume_total":', ifNull(toJSONString(toString(volume_total)), 'null'),
    ',"liquidity":', toJSONString(toString(liquidity)),
    ',"open_interest":', ifNull(toJSONString(toString(open_interest)), 'null'),
    ',"resolved_at":', ifNull(toJSONString(concat(replaceOne(substring(toString(resolved_at), 1, 23), ' ', 'T'), 'Z')), 'null'),
    ',"price_change_24h":', ifNull(toJSONString(toString(price_change_24h)), 'null'),
    ',"price_change_7d":', ifNull(toJSONString(toString(price_change_7d)), 'null'),
    ',"state_metadata":', toJSONString(metadata), '}'
  ) AS body, synced_at
FROM market_state;

-- Replaced by the texts.
DROP VIEW IF EXISTS market_info_rows_mv;
DROP TABLE IF EXISTS market_info_rows;
