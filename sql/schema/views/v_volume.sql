CREATE OR REPLACE VIEW v_volume (
  time DateTime('UTC') COMMENT 'Start of the hour; a filter on it reads these hours only',
  hour DateTime('UTC') COMMENT 'As time',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  volume Decimal(38, 6) COMMENT 'Contracts traded',
  notional Decimal(38, 6) COMMENT 'USD traded',
  trades Int64 COMMENT 'Number of trades'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT hour AS time, hour, platform, market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, toDecimal128(v, 6) AS volume, toDecimal128(q, 6) AS notional, n AS trades
FROM volume_1h FINAL WHERE n > 0
COMMENT 'Traded volume by hour, over all markets'
