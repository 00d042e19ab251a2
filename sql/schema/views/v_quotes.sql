CREATE OR REPLACE VIEW v_quotes (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  time DateTime64(3, 'UTC') COMMENT 'When the platform said so: at every change a sweep saw, and every few minutes',
  at DateTime64(3, 'UTC') COMMENT 'As time',
  status LowCardinality(String) COMMENT 'As in v_markets',
  price Nullable(Decimal(38, 10)) COMMENT 'Of the first outcome',
  bid Nullable(Decimal(38, 10)) COMMENT 'Best bid of the first outcome',
  ask Nullable(Decimal(38, 10)) COMMENT 'Best ask of the first outcome',
  spread Nullable(Decimal(38, 10)) COMMENT 'ask - bid; null without both, and where they are crossed',
  volume_total Nullable(Decimal(38, 6)) COMMENT 'By the platform: USD, contracts on Kalshi',
  liquidity Nullable(Decimal(38, 6)) COMMENT 'As in v_markets',
  open_interest Nullable(Decimal(38, 6)) COMMENT 'Contracts on Kalshi, USD elsewhere'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, at AS time, at, status, toDecimal128(price, 10) AS price, toDecimal128(bid, 10) AS bid, toDecimal128(ask, 10) AS ask,
  if(bid <= ask, ask - bid, NULL) AS spread, toDecimal128(volume_total, 6) AS volume_total, toDecimal128(if(liquidity_known, toNullable(liquidity), NULL), 6) AS liquidity,
  toDecimal128(open_interest, 6) AS open_interest
FROM market_snapshots FINAL
COMMENT 'Quotes and totals of markets over time'
