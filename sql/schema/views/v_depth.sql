CREATE OR REPLACE VIEW v_depth (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  time DateTime('UTC') COMMENT 'Start of the minute',
  minute DateTime('UTC') COMMENT 'As time',
  middle Nullable(Decimal(38, 10)) COMMENT 'Between best bid and best ask of the first outcome; null when a side is empty',
  bid_size_1c Nullable(Decimal(38, 6)) COMMENT 'Contracts bid at most 1 cent below the middle; null without a middle',
  ask_size_1c Nullable(Decimal(38, 6)) COMMENT 'Contracts asked at most 1 cent above the middle',
  bid_size_5c Nullable(Decimal(38, 6)) COMMENT 'At most 5 cents below',
  ask_size_5c Nullable(Decimal(38, 6)) COMMENT 'At most 5 cents above',
  bid_size_10c Nullable(Decimal(38, 6)) COMMENT 'At most 10 cents below',
  ask_size_10c Nullable(Decimal(38, 6)) COMMENT 'At most 10 cents above'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, minute AS time, minute, toDecimal128(middle, 10) AS middle, toDecimal128(bid_1c, 6) AS bid_size_1c, toDecimal128(ask_1c, 6) AS ask_size_1c,
  toDecimal128(bid_5c, 6) AS bid_size_5c, toDecimal128(ask_5c, 6) AS ask_size_5c,
  toDecimal128(bid_10c, 6) AS bid_size_10c, toDecimal128(ask_10c, 6) AS ask_size_10c
FROM book_depth FINAL
COMMENT 'Depth of recorded order books, by the minute'
