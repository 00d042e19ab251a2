-- GET analytics/trending: how complete the data behind the answers is, by platform and category; arrays hold the figures of 24h and of 7d. No span of trades
-- where each market has its own feed.
SELECT w.platform AS platform, category, as_of, markets, with_volume_change, with_price_change, by_trades, by_snapshots, oldest_snapshot,
  toUnixTimestamp64Milli(toDateTime64(c.complete_from, 3, 'UTC')) AS trades_from_ms, toUnixTimestamp64Milli(toDateTime64(c.complete_to, 3, 'UTC')) AS trades_to_ms,
  toUnixTimestamp64Milli(toDateTime64(g.gap_to, 3, 'UTC')) AS gap_to_ms
FROM (
  SELECT platform, category_slug AS category, max(as_of) AS as_of, count() AS markets,
    [countIf(sold_24h_before > 0), countIf(sold_7d_before > 0)] AS with_volume_change,
    [countIf(price > price_change_24h), countIf(price > price_change_7d)] AS with_price_change,
    [countIf(basis_24h = 'trades'), countIf(basis_7d = 'trades')] AS by_trades,
    [countIf(basis_24h = 'snapshots'), countIf(basis_7d = 'snapshots')] AS by_snapshots,
    min(first_seen_at) AS oldest_snapshot
  FROM market_windows
  WHERE status = 'open'
  GROUP BY platform, category
) AS w
LEFT JOIN (SELECT platform, complete_from, complete_to FROM trade_coverage FINAL WHERE market_key = 0 AND marker != 'each market') AS c USING (platform)
LEFT JOIN (SELECT platform, max(gap_to) AS gap_to FROM trade_gaps FINAL WHERE filled = 0 GROUP BY platform) AS g USING (platform)
