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
  search_text String MATERIALIZED replaceRegexpAll(lowerUTF8(title), '[^\\p{L}\\p{N}]+', ' ') CODEC(ZSTD(1))
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
  search_text String MATERIALIZED replaceRegexpAll(lowerUTF8(title), '[^\\p{L}\\p{N}]+', ' ') CODEC(ZSTD(1))
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

-- Of a store that was filled before: what its markets know of their events, until the next sweep brings the rest.
INSERT INTO event_markets
SELECT platform, sipHash64(toString(platform), event_id) AS event_key, market_key, platform_id, version
FROM markets FINAL WHERE event_id != '';

INSERT INTO events (platform, event_id, series_id, title, category, category_slug, tags, image_url, version)
SELECT platform, event_id, argMax(series_id, version), argMax(event_name, version), argMax(category, version), argMax(category_slug, version),
  argMax(tags, version), '', toDateTime64(0, 3, 'UTC')
FROM markets FINAL WHERE event_id != '' GROUP BY platform, event_id;

INSERT INTO series (platform, series_id, title, category, category_slug, version)
SELECT platform, series_id, '', argMax(category, version), argMax(category_slug, version), toDateTime64(0, 3, 'UTC')
FROM markets FINAL WHERE series_id != '' GROUP BY platform, series_id;

-- A book that was not read yet is unknown, not empty.
ALTER TABLE market_state ADD COLUMN IF NOT EXISTS liquidity_known Bool
  MATERIALIZED NOT (status IN ('open', 'paused') AND JSONExtractString(metadata, 'liquidity_basis') = 'none');

CREATE OR REPLACE VIEW v_events (
  id String COMMENT 'Unified id as in the API: <platform>:<event_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  event_id String COMMENT 'Joins to v_markets, with platform',
  series_id String COMMENT 'Joins to v_series, with platform; empty where there is none',
  title String COMMENT 'As worded by the platform',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  tags Array(LowCardinality(String)) COMMENT 'As the platform names them',
  status LowCardinality(String) COMMENT 'open when a market of it is open, else paused, unopened, closed or settled, whichever one has first',
  markets_count UInt64 COMMENT 'Stored markets',
  open_markets UInt64 COMMENT 'Of these open',
  volume_24h Nullable(Decimal(38, 6)) COMMENT 'Sum over its markets: USD, contracts on Kalshi; null when not known for every market',
  volume_total Nullable(Decimal(38, 6)) COMMENT 'As volume_24h',
  liquidity Nullable(Decimal(38, 6)) COMMENT 'Sum over its markets, USD of collateral at rest; null when not known for every market',
  mutually_exclusive Nullable(Bool) COMMENT 'Whether at most one market can pay; null when the platform does not say',
  trading_end_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the last market ends; null when not known for every market',
  source_url String COMMENT 'Page of the event on its platform'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat(e.platform, ':', e.event_id) AS id, e.platform AS platform, e.event_id AS event_id, e.series_id AS series_id, e.title AS title,
  e.category AS category, e.tags AS tags, m.status AS status, m.markets_count AS markets_count, m.open_markets AS open_markets,
  m.volume_24h AS volume_24h, m.volume_total AS volume_total, m.liquidity AS liquidity, e.mutually_exclusive AS mutually_exclusive,
  m.trading_end_at AS trading_end_at, e.source_url AS source_url
FROM events AS e FINAL
INNER JOIN (
  SELECT platform, event_id, count() AS markets_count, countIf(s.status = 'open') AS open_markets,
    multiIf(open_markets > 0, 'open', countIf(s.status = 'paused') > 0, 'paused', countIf(s.status = 'unopened') > 0, 'unopened',
      countIf(s.status = 'closed') > 0, 'closed', 'settled') AS status,
    if(count(s.volume_24h) = count(), sum(toDecimal128(s.volume_24h, 6)), NULL) AS volume_24h,
    if(count(s.volume_total) = count(), sum(toDecimal128(s.volume_total, 6)), NULL) AS volume_total,
    if(countIf(NOT s.liquidity_known) = 0, toNullable(sum(toDecimal128(s.liquidity, 6))), NULL) AS liquidity,
    if(count(s.trading_end_at) = count(), max(s.trading_end_at), NULL) AS trading_end_at
  FROM market_state AS s FINAL WHERE event_id != '' GROUP BY platform, event_id
) AS m ON m.platform = e.platform AND m.event_id = e.event_id
COMMENT 'Every event with a stored market, with sums over its markets';

CREATE OR REPLACE VIEW v_series (
  id String COMMENT 'Unified id as in the API: <platform>:<series_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  series_id String COMMENT 'Joins to v_events and v_markets, with platform',
  title String COMMENT 'As worded by the platform; empty where it words none',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  frequency Nullable(String) COMMENT 'How often it recurs, as worded by the platform; null when it does not say',
  events_count UInt64 COMMENT 'Stored events',
  open_events UInt64 COMMENT 'Of these with an open market'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat(r.platform, ':', r.series_id) AS id, r.platform AS platform, r.series_id AS series_id, r.title AS title, r.category AS category,
  r.frequency AS frequency, e.events_count AS events_count, e.open_events AS open_events
FROM series AS r FINAL
LEFT JOIN (
  SELECT e.platform AS platform, e.series_id AS series_id, count() AS events_count, countIf(m.is_open) AS open_events
  FROM events AS e FINAL
  INNER JOIN (
    SELECT platform, event_id, max(status = 'open') AS is_open FROM market_state FINAL WHERE event_id != '' GROUP BY platform, event_id
  ) AS m ON m.platform = e.platform AND m.event_id = e.event_id
  WHERE e.series_id != ''
  GROUP BY platform, series_id
) AS e ON e.platform = r.platform AND e.series_id = r.series_id
COMMENT 'Every series, with its events';
