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
COMMENT 'The wallets that took stored trades; a filter on wallet reads its trades only'
