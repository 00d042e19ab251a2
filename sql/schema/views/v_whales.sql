-- A large trade is one of much money: a thousand contracts at one cent are 10 USD. A price is at most 1, so that a trade of 250 USD has
-- 250 contracts or more.
CREATE OR REPLACE VIEW v_whales (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  trade_id String COMMENT 'As in v_trades',
  time DateTime64(6, 'UTC') COMMENT 'When the platform executed it',
  executed_at DateTime64(6, 'UTC') COMMENT 'As time',
  side Enum8('buy' = 1, 'sell' = 2) COMMENT 'Of the taker',
  outcome LowCardinality(String) COMMENT 'Id of the outcome traded',
  price Decimal(38, 10) COMMENT 'Of the outcome traded, 0..1',
  size Decimal(38, 6) COMMENT 'Contracts',
  notional Decimal(38, 6) COMMENT 'price × size, USD, 250 or more',
  trader String COMMENT 'Wallet of the taker; empty where the platform names none',
  is_block Bool COMMENT 'Negotiated off the book'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, trade_id, executed_at AS time, executed_at, side, outcome, toDecimal128(price, 10) AS price, toDecimal128(size, 6) AS size,
  toDecimal128(notional, 6) AS notional,
  if(trader = '', '', concat('0x', lower(hex(trader)))) AS trader, is_block
FROM whales FINAL WHERE whales.notional >= 250
COMMENT 'Trades of 250 USD and more, in time order: fast over all markets'
