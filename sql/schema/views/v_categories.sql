CREATE OR REPLACE VIEW v_categories (
  category LowCardinality(String) COMMENT 'As in v_markets; empty where the platform names none',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  markets_count UInt64 COMMENT 'Listed markets without placeholders and combinations',
  open_markets UInt64 COMMENT 'Of these open',
  volume_24h_usd Nullable(Decimal(38, 6)) COMMENT 'USD: sum over those of its markets whose amount is known, as in v_markets; null where none is',
  volume_7d_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_total_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  liquidity_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  usd_markets Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64) COMMENT 'Of markets_count, how many are in each of these sums',
  spread Nullable(Decimal(38, 10)) COMMENT 'Mean of ask - bid over the open markets with both that are not crossed; null where there is none',
  time DateTime64(3, 'UTC') COMMENT 'Instant of these figures, at most five minutes ago'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT category, platform, count() AS markets_count, countIf(status = 'open') AS open_markets,
  sumOrNull(toDecimal128(w.volume_24h_usd, 6)) AS volume_24h_usd, sumOrNull(toDecimal128(w.volume_7d_usd, 6)) AS volume_7d_usd,
  sumOrNull(toDecimal128(w.volume_total_usd, 6)) AS volume_total_usd, sumOrNull(toDecimal128(w.liquidity_usd, 6)) AS liquidity_usd,
  CAST((count(w.volume_24h_usd), count(w.volume_7d_usd), count(w.volume_total_usd), count(w.liquidity_usd)) AS Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64)) AS usd_markets,
  sumOrNullIf(toDecimal128(w.spread, 10), status = 'open' AND isNotNull(w.spread)) / nullIf(countIf(status = 'open' AND isNotNull(w.spread)), 0) AS spread, max(as_of) AS time
FROM market_windows AS w GROUP BY category, platform
COMMENT 'Categories on each platform, with sums over their markets'
