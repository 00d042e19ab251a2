CREATE OR REPLACE VIEW v_market_stats (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  trades Int64 COMMENT 'Stored trades',
  volume Decimal(38, 6) COMMENT 'Contracts of stored trades',
  notional Decimal(38, 6) COMMENT 'USD of stored trades',
  traders UInt64 COMMENT 'Distinct takers of stored trades; 0 where the platform names none',
  time DateTime64(6, 'UTC') COMMENT 'As last_trade_at',
  first_trade_at DateTime64(6, 'UTC') COMMENT 'Oldest stored trade',
  last_trade_at DateTime64(6, 'UTC') COMMENT 'Newest stored trade',
  as_of Nullable(DateTime64(3, 'UTC')) COMMENT 'Instant of what follows; null for a market that is not listed yet',
  sold_24h Nullable(Decimal(38, 6)) COMMENT 'Sold in the 24 h before as_of: USD, contracts on Kalshi; null when not known for this window and the one before',
  sold_24h_before Nullable(Decimal(38, 6)) COMMENT 'Sold in the 24 h before those',
  sold_7d Nullable(Decimal(38, 6)) COMMENT 'As sold_24h, over 7 days',
  sold_7d_before Nullable(Decimal(38, 6)) COMMENT 'Sold in the 7 days before those'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT t.market_key AS market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(t.market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(t.market_key)) AS title, t.platform AS platform, t.trades AS trades, toDecimal128(t.volume, 6) AS volume, toDecimal128(t.notional, 6) AS notional, t.traders AS traders,
  t.last_trade_at AS time, t.first_trade_at AS first_trade_at, t.last_trade_at AS last_trade_at,
  if(w.as_of > toDateTime64(0, 3, 'UTC'), toNullable(w.as_of), NULL) AS as_of,
  toDecimal128(w.sold_24h, 6) AS sold_24h, toDecimal128(w.sold_24h_before, 6) AS sold_24h_before,
  toDecimal128(w.sold_7d, 6) AS sold_7d, toDecimal128(w.sold_7d_before, 6) AS sold_7d_before
FROM (
  SELECT market_key, any(platform) AS platform, sum(n) AS trades, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, uniqExactIfMerge(traders) AS traders,
    min(first_trade_at) AS first_trade_at, max(last_trade_at) AS last_trade_at
  FROM market_totals GROUP BY market_key
) AS t
LEFT JOIN market_windows AS w ON w.market_key = t.market_key
COMMENT 'What the stored trades of each market add up to, one row a traded market'
