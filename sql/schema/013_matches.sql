-- Hash of what a market asks: everything that the judge of matches reads. It changes in the same insert as the market, so that a
-- verdict on an older text is no longer read from then on. Trading, images and figures do not change it.
CREATE TABLE IF NOT EXISTS market_questions (
  platform LowCardinality(String),
  market_key UInt64,
  texts UInt64,
  version DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(version) ORDER BY (platform, market_key)
SETTINGS index_granularity = 1024;

CREATE MATERIALIZED VIEW IF NOT EXISTS market_questions_mv TO market_questions AS
SELECT platform, market_key, sipHash64(platform_id, title, outcome_names, event_id, event_name, series_id, slug, category, ifNull(subcategory, ''),
    arrayStringConcat(tags, ','), if(resolution_criteria = '', description, resolution_criteria), resolution_source,
    ifNull(toString(trading_start_at), ''), ifNull(toString(trading_end_at), ''), ifNull(toString(resolution_date), ''),
    JSONExtractRaw(metadata, 'strike'), JSONExtractString(metadata, 'external_slug'), JSONExtractString(metadata, 'group_item_title'),
    JSONExtractString(metadata, 'yes_sub_title'), JSONExtractString(metadata, 'game_start_time'),
    JSONExtractString(metadata, 'event_start_time'), JSONExtractString(metadata, 'occurrence_datetime')
  ) AS texts, version
FROM markets;

-- What was read of a market's texts; kind is '' where no kind recognises it. The index of matches is built from these rows. A market is
-- due until its row is_judged: a process that is killed between its facts and its verdicts judges it again.
CREATE TABLE IF NOT EXISTS market_facts (
  platform LowCardinality(String),
  market_key UInt64,
  texts UInt64,
  rules_version UInt32,
  kind LowCardinality(String),
  event_id String CODEC(ZSTD(1)),
  category_slug LowCardinality(String),
  facts String CODEC(ZSTD(3)),
  is_judged Bool,
  stored_at DateTime64(3, 'UTC') DEFAULT now64(3),
  INDEX stored stored_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(stored_at) ORDER BY market_key
SETTINGS index_granularity = 256;

-- A verdict on two markets of two platforms; a is of the platform that comes first. It holds for the texts whose hashes it names.
CREATE TABLE IF NOT EXISTS matches (
  match_key UInt64 DEFAULT sipHash64(a_key, b_key),
  a_platform LowCardinality(String),
  a_key UInt64,
  a_texts UInt64,
  a_event_id String CODEC(ZSTD(1)),
  a_category LowCardinality(String),
  b_platform LowCardinality(String),
  b_key UInt64,
  b_texts UInt64,
  b_event_id String CODEC(ZSTD(1)),
  b_category LowCardinality(String),
  relation LowCardinality(String),
  -- The relation before this verdict, as streams send it: '' of a new pair. Verdicts that no event was sent of are found by their time.
  previous_relation LowCardinality(String),
  kind LowCardinality(String),
  reasons String CODEC(ZSTD(3)),
  rules_version UInt32,
  is_withdrawn Bool,
  -- When the pair was first found: lists are sorted by it.
  found_at DateTime64(3, 'UTC'),
  checked_at DateTime64(3, 'UTC'),
  INDEX by_b b_key TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_match match_key TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX checked checked_at TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(checked_at) ORDER BY (a_key, b_key)
SETTINGS index_granularity = 256;
