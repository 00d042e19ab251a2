-- ingestion: markets of a per-market feed whose volume moved since their trades were read, or that were not yet read back to the
-- backfill's floor, longest waiting first, and of those never read the most traded
-- The volume counts a trade before the feed lists it, and caches repeat an older page. So a market is read again after lag_seconds; until
-- then its marker ends with '?'. An unsettled market of unknown volume is read every lag_seconds; a settled one once, and once after its end.
SELECT m.ref AS ref, ifNull(toString(s.volume_total), '') AS marker
FROM (
  SELECT market_key, status, volume_total, trading_end_at FROM market_state FINAL
  WHERE platform = {platform:String} AND (volume_total > 0 OR volume_total IS NULL)
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
LEFT JOIN (
  SELECT market_key, ref, marker, complete_from, version FROM trade_coverage FINAL
  WHERE platform = {platform:String} AND ref != ''
) AS c USING (market_key)
WHERE (s.volume_total IS NOT NULL AND c.marker NOT IN (toString(s.volume_total), concat(toString(s.volume_total), '?')))
  OR (c.ref != '' AND c.complete_from > {floor:DateTime64(6, 'UTC')})
  OR (s.volume_total IS NULL AND c.ref = '')
  OR ((c.marker LIKE '%?' OR (s.volume_total IS NULL AND s.status != 'settled')) AND c.version < now64(6) - toIntervalSecond({lag_seconds:UInt32}))
  OR (s.trading_end_at + INTERVAL 5 MINUTE < now64(3) AND c.version < s.trading_end_at + INTERVAL 5 MINUTE)
ORDER BY c.version, s.volume_total DESC, ref
LIMIT {limit:UInt32}
