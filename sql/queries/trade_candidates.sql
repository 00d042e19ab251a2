-- ingestion: markets of a per-market feed whose volume moved since their trades were read, or that were not yet read back to the
-- backfill's floor, longest waiting first, and of those never read the most traded
-- The volume counts a trade before the feed lists it, and caches repeat an older page for up to 60 s. So a market is read again after 65 s;
-- until then its marker ends with '?'.
SELECT m.ref AS ref, toString(s.volume_total) AS marker
FROM (
  SELECT market_key, volume_total, trading_end_at FROM market_state FINAL
  WHERE platform = {platform:String} AND volume_total > 0
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
LEFT JOIN (
  SELECT market_key, ref, marker, complete_from, version FROM trade_coverage FINAL
  WHERE platform = {platform:String} AND ref != ''
) AS c USING (market_key)
WHERE c.marker NOT IN (toString(s.volume_total), concat(toString(s.volume_total), '?'))
  OR (c.ref != '' AND c.complete_from > {floor:DateTime64(6, 'UTC')})
  OR (c.marker LIKE '%?' AND c.version < now64(6) - INTERVAL 65 SECOND)
  OR (s.trading_end_at + INTERVAL 5 MINUTE < now64(3) AND c.version < s.trading_end_at + INTERVAL 5 MINUTE)
ORDER BY c.version, s.volume_total DESC, ref
LIMIT {limit:UInt32}
