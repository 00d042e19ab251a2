-- GET health: the number of stored markets and trades of each platform, and the times of the first and the last trade
SELECT platform, markets, open_markets, trades, toUnixTimestamp64Milli(first_at) AS first_ms, toUnixTimestamp64Milli(last_at) AS last_ms
FROM (
  SELECT toString(platform) AS platform, count() AS markets, countIf(status = 'open') AS open_markets FROM market_state FINAL GROUP BY platform
) AS m
LEFT JOIN (
  SELECT toString(platform) AS platform, sum(n) AS trades, toDateTime64(min(first_trade_at), 3, 'UTC') AS first_at, toDateTime64(max(last_trade_at), 3, 'UTC') AS last_at
  FROM market_totals GROUP BY platform
) AS t USING (platform)
