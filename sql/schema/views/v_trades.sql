CREATE OR REPLACE VIEW v_trades (
  market_key UInt64 COMMENT 'Joins to v_markets; a filter on it reads one market only',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  trade_id String COMMENT 'Id of the platform; on Polymarket made of transaction and fill',
  time DateTime64(6, 'UTC') COMMENT 'When the platform executed it',
  executed_at DateTime64(6, 'UTC') COMMENT 'As time',
  side Enum8('buy' = 1, 'sell' = 2) COMMENT 'Of the taker',
  outcome LowCardinality(String) COMMENT 'Id of the outcome traded',
  outcome_index UInt8 COMMENT 'Its place in v_markets.outcomes, from 0',
  price Decimal(38, 10) COMMENT 'Of the outcome traded, 0..1',
  first_price Decimal(38, 10) COMMENT 'In terms of the first outcome (of its own, where a market has more than two)',
  size Decimal(38, 6) COMMENT 'Contracts',
  notional Decimal(38, 6) COMMENT 'price × size, USD',
  trader String COMMENT 'Wallet of the taker; empty where the platform names none',
  is_block Bool COMMENT 'Negotiated off the book: counts for volume, not for price',
  transaction_hash String COMMENT 'Empty where there is none',
  stored_at DateTime64(3, 'UTC') COMMENT 'When this service stored it'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, trade_id, executed_at AS time, executed_at, side, outcome, outcome_index, toDecimal128(price, 10) AS price,
  toDecimal128(series_price, 10) AS first_price, toDecimal128(size, 6) AS size, toDecimal128(notional, 6) AS notional,
  if(empty(trader), '', concat('0x', lower(hex(trader)))) AS trader, is_block, transaction_hash, ingested_at AS stored_at
FROM trades WHERE market_key NOT IN (SELECT market_key FROM doubled_markets)
UNION ALL
SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, trade_id, executed_at AS time, executed_at, side, outcome, outcome_index, toDecimal128(price, 10) AS price,
  toDecimal128(series_price, 10) AS first_price, toDecimal128(size, 6) AS size, toDecimal128(notional, 6) AS notional,
  if(empty(trader), '', concat('0x', lower(hex(trader)))) AS trader, is_block, transaction_hash, ingested_at AS stored_at
FROM trades FINAL WHERE market_key IN (SELECT market_key FROM doubled_markets)
COMMENT 'Every trade, one row a fill, seen from its taker'
