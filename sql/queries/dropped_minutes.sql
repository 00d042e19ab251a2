-- ingestion: minutes of these markets whose trades were dropped by retention: their bars count more trades than are stored
WITH keys AS (SELECT arrayJoin({refs:Array(String)}) AS ref, sipHash64({platform:String}, ref) AS market_key)
SELECT ref, toUnixTimestamp(t) AS minute
FROM (
  SELECT market_key, t, sum(n) AS counted FROM candles_1m
  WHERE market_key IN (SELECT market_key FROM keys) AND t >= toDateTime({from:UInt32}, 'UTC') AND t <= toDateTime({to:UInt32}, 'UTC')
  GROUP BY market_key, t
) AS b
INNER JOIN keys USING (market_key)
LEFT JOIN (
  SELECT market_key, toStartOfMinute(executed_at) AS t, count() AS held FROM trades FINAL
  WHERE market_key IN (SELECT market_key FROM keys) AND executed_at >= toDateTime({from:UInt32}, 'UTC') AND executed_at < toDateTime({to:UInt32}, 'UTC') + 60
  GROUP BY market_key, t
) AS r USING (market_key, t)
WHERE counted > held
