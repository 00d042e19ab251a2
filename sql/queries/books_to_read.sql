-- ingestion: open markets with an order book, those whose best level is not known first, then by volume of the last day
SELECT m.ref AS ref
FROM (
  SELECT market_key, volume_24h, isNotNull(liquidity_usd) AS known FROM market_state FINAL
  WHERE platform = {platform:String} AND status IN ('open', 'paused') AND market_key NOT IN (
      SELECT market_key FROM markets FINAL
      WHERE platform = {platform:String} AND platform IN (SELECT platform FROM platforms WHERE has_pools) AND JSONExtractString(metadata, 'trade_type') = 'amm'
    )
  ORDER BY volume_24h DESC NULLS LAST LIMIT {limit:UInt32}
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
ORDER BY s.known, s.volume_24h DESC NULLS LAST, ref
