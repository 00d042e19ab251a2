-- ingestion: markets of lists that traded in the last three hours, those first whose platform bars were read longest ago
WITH traded AS (SELECT market_key FROM volume_1h WHERE platform = {platform:String} AND hour >= toStartOfHour(now() - INTERVAL 3 HOUR))
SELECT m.ref AS ref
FROM (
  SELECT market_key, max(last_trade_at) AS last_trade_at FROM market_totals
  WHERE market_key IN (SELECT market_key FROM traded)
    AND market_key NOT IN (SELECT market_key FROM market_state WHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM traded) AND is_combo)
  GROUP BY market_key HAVING last_trade_at >= now() - INTERVAL 3 HOUR
) AS t
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM traded)) AS m USING (market_key)
LEFT JOIN (
  SELECT market_key, max(version) AS read_at FROM platform_candles
  WHERE market_key IN (SELECT market_key FROM traded) AND interval_min IN (1, 60) AND t >= now() - INTERVAL 6 HOUR
  GROUP BY market_key
) AS c USING (market_key)
ORDER BY c.read_at, t.last_trade_at DESC
LIMIT {limit:UInt32}
