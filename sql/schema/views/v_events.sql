CREATE OR REPLACE VIEW v_events (
  id String COMMENT 'Unified id as in the API: <platform>:<event_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  event_id String COMMENT 'Joins to v_markets, with platform',
  series_id String COMMENT 'Joins to v_series, with platform; empty where there is none',
  title String COMMENT 'As worded by the platform',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  tags Array(LowCardinality(String)) COMMENT 'As the platform names them',
  status LowCardinality(String) COMMENT 'open when a market of it is open, else paused, unopened, closed or settled, whichever one has first',
  markets_count UInt64 COMMENT 'Stored markets without placeholders and combinations',
  open_markets UInt64 COMMENT 'Of these open',
  volume_24h Nullable(Decimal(38, 6)) COMMENT 'Sum over its markets, as in v_markets: USD, contracts on Kalshi; null when not known for every market',
  volume_total Nullable(Decimal(38, 6)) COMMENT 'As volume_24h',
  liquidity Nullable(Decimal(38, 6)) COMMENT 'Sum over its markets, USD of collateral at rest; null when not known for every market',
  volume_24h_usd Nullable(Decimal(38, 6)) COMMENT 'USD: sum over those of its markets whose amount is known, as in v_markets; null where none is',
  volume_7d_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_total_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  liquidity_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  usd_markets Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64) COMMENT 'Of markets_count, how many are in each of these sums',
  mutually_exclusive Nullable(Bool) COMMENT 'Whether at most one market can pay; null when the platform does not say',
  time DateTime64(3, 'UTC') COMMENT 'When the newest of its figures was read',
  trading_end_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the last market ends; null when not known for every market',
  source_url String COMMENT 'Page of the event on its platform'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat(e.platform, ':', e.event_id) AS id, e.platform AS platform, e.event_id AS event_id, e.series_id AS series_id, e.title AS title,
  e.category AS category, e.tags AS tags, m.status AS status, m.markets_count AS markets_count, m.open_markets AS open_markets,
  m.volume_24h AS volume_24h, m.volume_total AS volume_total, m.liquidity AS liquidity,
  m.volume_24h_usd AS volume_24h_usd, m.volume_7d_usd AS volume_7d_usd, m.volume_total_usd AS volume_total_usd, m.liquidity_usd AS liquidity_usd,
  CAST((m.known_24h, m.known_7d, m.known_total, m.known_liquidity) AS Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64)) AS usd_markets, e.mutually_exclusive AS mutually_exclusive,
  m.synced_at AS time, m.trading_end_at AS trading_end_at, e.source_url AS source_url
FROM events AS e FINAL
INNER JOIN (
  WITH if(s.status IN ('closed', 'settled') AND s.synced_at <= now64(3, 'UTC') - toIntervalDay(1), toDecimal64(0, 6), s.volume_24h) AS day_volume
  SELECT platform, event_id, count() AS markets_count, countIf(s.status = 'open') AS open_markets,
    multiIf(open_markets > 0, 'open', countIf(s.status = 'paused') > 0, 'paused', countIf(s.status = 'unopened') > 0, 'unopened',
      countIf(s.status = 'closed') > 0, 'closed', 'settled') AS status,
    if(count(day_volume) = count(), sum(toDecimal128(day_volume, 6)), NULL) AS volume_24h,
    if(count(s.volume_total) = count(), sum(toDecimal128(s.volume_total, 6)), NULL) AS volume_total,
    if(countIf(NOT s.liquidity_known) = 0, toNullable(sum(toDecimal128(s.liquidity, 6))), NULL) AS liquidity,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_24h_usd', s.market_key), 6)) AS volume_24h_usd, count(dictGetOrNull('market_amounts', 'volume_24h_usd', s.market_key)) AS known_24h,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_7d_usd', s.market_key), 6)) AS volume_7d_usd, count(dictGetOrNull('market_amounts', 'volume_7d_usd', s.market_key)) AS known_7d,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_total_usd', s.market_key), 6)) AS volume_total_usd, count(dictGetOrNull('market_amounts', 'volume_total_usd', s.market_key)) AS known_total,
    sumOrNull(toDecimal128(s.liquidity_usd, 6)) AS liquidity_usd, count(s.liquidity_usd) AS known_liquidity,
    if(count(s.trading_end_at) = count(), max(s.trading_end_at), NULL) AS trading_end_at,
    max(s.synced_at) AS synced_at
  FROM market_state AS s FINAL WHERE event_id != '' AND NOT is_placeholder AND NOT is_combo GROUP BY platform, event_id
) AS m ON m.platform = e.platform AND m.event_id = e.event_id
COMMENT 'Every event with a stored market, with sums over its markets; placeholders and combinations are left out';
