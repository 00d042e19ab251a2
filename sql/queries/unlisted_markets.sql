-- ingestion: markets that the platform's lists leave out: first those that traded in the last day and are not stored, the most traded in
-- USD first; then stored ones that are not settled, those read longest ago first
WITH traded AS (
  SELECT market_key, sumWithOverflow(q) AS usd FROM volume_1h
  WHERE platform = {platform:String} AND hour >= toStartOfHour(now('UTC')) - INTERVAL 1 DAY
    AND market_key NOT IN (SELECT market_key FROM market_state WHERE platform = {platform:String})
  GROUP BY market_key HAVING usd > 0
  ORDER BY usd DESC, market_key LIMIT {fresh:UInt32}
)
SELECT ref, is_stored, provisional
FROM (
  SELECT r.ref AS ref, false AS is_stored, false AS provisional, -toFloat64(t.usd) AS place
  FROM traded AS t
  INNER JOIN (SELECT DISTINCT market_key, ref FROM market_refs WHERE market_key IN (SELECT market_key FROM traded)) AS r USING (market_key)
  UNION ALL
  SELECT m.ref, true, JSONExtractBool(m.metadata, 'is_provisional'), toFloat64(toUnixTimestamp64Milli(s.synced_at))
  FROM (
    SELECT market_key, synced_at FROM market_state FINAL
    WHERE platform = {platform:String} AND is_combo AND status != 'settled'
    ORDER BY synced_at, market_key LIMIT {stored:UInt32}
  ) AS s
  INNER JOIN (SELECT market_key, ref, metadata FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
)
ORDER BY is_stored, place, ref
