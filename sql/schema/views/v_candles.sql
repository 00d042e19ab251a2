CREATE OR REPLACE VIEW v_candles (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  interval Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6) COMMENT 'Always filter on it; another one is refused',
  outcome_index UInt8 COMMENT '0: prices of the first outcome; more only where a market has more than two outcomes',
  series UInt8 COMMENT 'As outcome_index',
  time DateTime('UTC') COMMENT 'Start of the bar',
  t DateTime('UTC') COMMENT 'As time',
  open Nullable(Decimal(38, 10)) COMMENT 'First price; null when only block trades fell into the bar',
  high Nullable(Decimal(38, 10)) COMMENT 'Highest price',
  low Nullable(Decimal(38, 10)) COMMENT 'Lowest price',
  close Nullable(Decimal(38, 10)) COMMENT 'Last price',
  volume Decimal(38, 6) COMMENT 'Contracts traded',
  notional Decimal(38, 6) COMMENT 'USD traded',
  trades Int64 COMMENT 'Number of trades'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, CAST(substring(_table, 6) AS Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6)) AS interval,
  series AS outcome_index, series, t AS time, t, toDecimal128(open, 10) AS open, toDecimal128(high, 10) AS high,
  toDecimal128(low, 10) AS low, toDecimal128(close, 10) AS close, toDecimal128(volume, 6) AS volume, toDecimal128(notional, 6) AS notional, trades
FROM bars
COMMENT 'Bars of stored trades; a bar without trades has no row'
