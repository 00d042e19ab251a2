-- ingestion: open markets whose books and quotes are followed over sockets: requested ones first, then the most traded of the lists
SELECT m.ref AS ref
FROM (
  SELECT market_key, volume_24h, volume_total FROM market_state FINAL
  WHERE platform = {platform:String} AND status = 'open'
    AND (NOT is_combo OR market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)}))))
  ORDER BY market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)}))) DESC,
    volume_24h DESC NULLS LAST, volume_total DESC NULLS LAST, market_key
  LIMIT {limit:UInt32}
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
ORDER BY s.volume_24h DESC NULLS LAST, s.volume_total DESC NULLS LAST, ref
