-- ingestion: unsettled markets with their total volume, by volume of the last day
SELECT m.ref AS ref, toString(s.volume_total) AS volume
FROM (
  SELECT market_key, volume_24h, volume_total FROM market_state FINAL
  WHERE platform = {platform:String} AND status != 'settled' AND volume_total > 0
  ORDER BY volume_24h DESC NULLS LAST LIMIT 5000
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
ORDER BY s.volume_24h DESC NULLS LAST, ref
