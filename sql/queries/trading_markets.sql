-- ingestion: markets of lists that are trading or about to settle according to the store, those read longest ago first
SELECT m.ref AS ref, s.status AS status, toUnixTimestamp64Milli(ifNull(s.trading_end_at, s.synced_at)) AS end_ms,
  JSONExtractBool(m.metadata, 'is_provisional') AS provisional
FROM (
  SELECT market_key, status, trading_end_at, synced_at FROM market_state FINAL
  WHERE platform = {platform:String} AND status IN ('unopened', 'open', 'paused', 'closed') AND NOT is_combo
) AS s
INNER JOIN (SELECT market_key, ref, metadata FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
ORDER BY s.synced_at, ref
