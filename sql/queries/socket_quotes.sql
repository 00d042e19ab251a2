-- ingestion: last stored price and volume of markets with quotes from a socket
SELECT r.ref AS ref, s.price AS price, s.volume_total AS volume_total
FROM (SELECT arrayJoin({refs:Array(String)}) AS ref, sipHash64({platform:String}, ref) AS market_key) AS r
INNER JOIN (
  SELECT market_key, prices[1] AS price, volume_total FROM market_state FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
) AS s USING (market_key)
