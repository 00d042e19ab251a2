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
COMMENT 'Every trade, one row a fill, seen from its taker';

-- FINAL merges whole columns only: o and c are read whole, and their prices are taken afterwards.
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
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, interval, series AS outcome_index, series, t AS time, t, toDecimal128(open, 10) AS open, toDecimal128(high, 10) AS high,
  toDecimal128(low, 10) AS low, toDecimal128(close, 10) AS close, toDecimal128(volume, 6) AS volume, toDecimal128(notional, 6) AS notional, trades
FROM (
  SELECT market_key, CAST('1m' AS Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6)) AS interval, series, t, if(h >= 0, toNullable(o.px), NULL) AS open, if(h >= 0, toNullable(h), NULL) AS high,
    if(h >= 0, toNullable(l), NULL) AS low, if(h >= 0, toNullable(c.px), NULL) AS close, v AS volume, q AS notional, n AS trades
  FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM candles_1m FINAL WHERE n > 0)
  UNION ALL
  SELECT market_key, CAST('5m' AS Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6)) AS interval, series, toStartOfFiveMinutes(t) AS bar, argMinIf(toNullable(o.px), t, h >= 0) AS open, if(max(h) >= 0, toNullable(max(h)), NULL) AS high,
    if(max(h) >= 0, toNullable(min(l)), NULL) AS low, argMaxIf(toNullable(c.px), t, h >= 0) AS close, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, sum(n) AS trades
  FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM candles_1m FINAL WHERE n > 0) GROUP BY market_key, series, bar
  UNION ALL
  SELECT market_key, CAST('15m' AS Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6)) AS interval, series, toStartOfFifteenMinutes(t) AS bar, argMinIf(toNullable(o.px), t, h >= 0) AS open, if(max(h) >= 0, toNullable(max(h)), NULL) AS high,
    if(max(h) >= 0, toNullable(min(l)), NULL) AS low, argMaxIf(toNullable(c.px), t, h >= 0) AS close, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, sum(n) AS trades
  FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM candles_1m FINAL WHERE n > 0) GROUP BY market_key, series, bar
  UNION ALL
  SELECT market_key, CAST('1h' AS Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6)) AS interval, series, t, if(h >= 0, toNullable(o.px), NULL) AS open, if(h >= 0, toNullable(h), NULL) AS high,
    if(h >= 0, toNullable(l), NULL) AS low, if(h >= 0, toNullable(c.px), NULL) AS close, v AS volume, q AS notional, n AS trades
  FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM candles_1h FINAL WHERE n > 0)
  UNION ALL
  SELECT market_key, CAST('4h' AS Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6)) AS interval, series, toStartOfInterval(t, toIntervalHour(4)) AS bar, argMinIf(toNullable(o.px), t, h >= 0) AS open, if(max(h) >= 0, toNullable(max(h)), NULL) AS high,
    if(max(h) >= 0, toNullable(min(l)), NULL) AS low, argMaxIf(toNullable(c.px), t, h >= 0) AS close, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, sum(n) AS trades
  FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM candles_1h FINAL WHERE n > 0) GROUP BY market_key, series, bar
  UNION ALL
  SELECT market_key, CAST('1d' AS Enum8('1m' = 1, '5m' = 2, '15m' = 3, '1h' = 4, '4h' = 5, '1d' = 6)) AS interval, series, toStartOfDay(t) AS bar, argMinIf(toNullable(o.px), t, h >= 0) AS open, if(max(h) >= 0, toNullable(max(h)), NULL) AS high,
    if(max(h) >= 0, toNullable(min(l)), NULL) AS low, argMaxIf(toNullable(c.px), t, h >= 0) AS close, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, sum(n) AS trades
  FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM candles_1h FINAL WHERE n > 0) GROUP BY market_key, series, bar
)
COMMENT 'Bars of stored trades; a bar without trades has no row';

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
COMMENT 'Traded volume by hour, over all markets';

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
COMMENT 'Trades of 250 USD and more, in time order: fast over all markets';

CREATE OR REPLACE VIEW v_wallets (
  wallet String COMMENT 'Address, as trader in v_trades',
  platform LowCardinality(String) COMMENT 'polymarket or limitless; Kalshi names no traders',
  name String COMMENT 'As the platform names it; empty where it gives none',
  pseudonym String COMMENT 'As the platform generates it; empty where it gives none',
  trades UInt64 COMMENT 'Stored trades that it took',
  markets UInt64 COMMENT 'Markets of these',
  volume Decimal(38, 6) COMMENT 'Contracts of these',
  notional Decimal(38, 6) COMMENT 'USD of these',
  first_trade_at DateTime64(6, 'UTC') COMMENT 'Oldest of these',
  time DateTime64(6, 'UTC') COMMENT 'Newest of these',
  last_trade_at DateTime64(6, 'UTC') COMMENT 'As time'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT t.trader AS wallet, t.platform AS platform, n.name AS name, n.pseudonym AS pseudonym, t.trades AS trades, t.markets AS markets,
  t.volume AS volume, t.notional AS notional, t.first_trade_at AS first_trade_at, t.last_trade_at AS time, t.last_trade_at AS last_trade_at
FROM (
  SELECT trader, platform, count() AS trades, uniqExact(market_key) AS markets, sum(size) AS volume, sum(notional) AS notional,
    min(executed_at) AS first_trade_at, max(executed_at) AS last_trade_at
  FROM v_trades WHERE trader != '' GROUP BY trader, platform
) AS t
LEFT JOIN (
  SELECT concat('0x', lower(hex(trader))) AS trader, platform, name, pseudonym FROM traders FINAL
) AS n ON n.trader = t.trader AND n.platform = t.platform
COMMENT 'The wallets that took stored trades; a filter on wallet reads its trades only';
