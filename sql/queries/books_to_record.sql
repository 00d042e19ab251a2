-- ingestion: open markets with an order book, the most traded of the last day first
SELECT m.ref AS ref
FROM (
  SELECT market_key, volume_24h FROM market_state FINAL
  WHERE platform = {platform:String} AND status = 'open' AND NOT is_combo AND market_key NOT IN (
      SELECT market_key FROM markets FINAL
      WHERE platform = {platform:String} AND platform IN (SELECT platform FROM platforms WHERE has_pools) AND JSONExtractString(metadata, 'trade_type') = 'amm'
    )
  ORDER BY volume_24h DESC NULLS LAST, market_key LIMIT {limit:UInt32}
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
ORDER BY s.volume_24h DESC NULLS LAST, s.market_key
