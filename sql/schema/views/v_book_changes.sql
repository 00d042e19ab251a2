CREATE OR REPLACE VIEW v_book_changes (
  market_key UInt64 COMMENT 'Joins to v_markets; a filter on it and platform reads one market only',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  outcome LowCardinality(String) COMMENT 'Id of the first outcome; the book of the second is its complement',
  exchange_at Nullable(DateTime64(3, 'UTC')) COMMENT 'By the platform; null where it gives no time',
  time DateTime64(3, 'UTC') COMMENT 'When this service received it',
  received_at DateTime64(3, 'UTC') COMMENT 'As time',
  sequence UInt64 COMMENT 'Rises with each message of a market; the levels of one message share it',
  side Enum8('bid' = 1, 'ask' = 2) COMMENT 'Of the book',
  price Decimal(38, 10) COMMENT 'Of the first outcome, 0..1',
  size Decimal(38, 6) COMMENT 'Contracts that rest there now; 0 when the level is gone',
  polled Bool COMMENT 'Found by comparing two polled books; false when the platform sent the change itself'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, outcome, exchange_at, received_at AS time, received_at, sequence, side,
  toDecimal128(price, 10) AS price, toDecimal128(size, 6) AS size, polled
FROM book_changes FINAL
COMMENT 'Changes of recorded order books, one row a level'
