CREATE OR REPLACE VIEW v_book_gaps (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  time DateTime64(3, 'UTC') COMMENT 'When the book was last known',
  from_at DateTime64(3, 'UTC') COMMENT 'As time',
  to_at DateTime64(3, 'UTC') COMMENT 'When it was known again',
  reason LowCardinality(String) COMMENT 'Why it was not'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, from_at AS time, from_at, to_at, reason
FROM book_gaps FINAL
COMMENT 'Stretches in which a recorded order book is not known'
