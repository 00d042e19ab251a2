-- ingestion: what was last written of a platform's markets, as RowBinary: those that are not settled first, then those written last
SELECT m.ref AS ref, toString(sent_info), toString(sent_state), toString(status),
  toFloat64(toUnixTimestamp64Milli(synced_at)), toFloat64(ifNull(volume_total, 0) != 0), toFloat64(is_combo)
FROM (
  SELECT market_key, sent_info, sent_state, status, synced_at, volume_total, is_combo FROM market_state FINAL
  PREWHERE platform = {platform:String}
  ORDER BY status != 'settled' DESC, is_combo, synced_at DESC
  LIMIT {limit:UInt32}
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL PREWHERE platform = {platform:String}) AS m USING (market_key)
-- Rows written last come last, so that the cache that they fill keeps them longest.
ORDER BY synced_at
