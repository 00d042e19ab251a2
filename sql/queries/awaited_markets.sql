-- ingestion: those of these markets that are not settled according to the store, combinations left out
SELECT m.ref AS ref, s.status AS status, toUnixTimestamp64Milli(ifNull(s.trading_end_at, s.synced_at)) AS end_ms,
  JSONExtractBool(m.metadata, 'is_provisional') AS provisional
FROM (
  SELECT market_key, status, trading_end_at, synced_at FROM market_state FINAL
  PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
  WHERE status != 'settled' AND NOT is_combo
) AS s
INNER JOIN (
  SELECT market_key, ref, metadata FROM markets FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
) AS m USING (market_key)
