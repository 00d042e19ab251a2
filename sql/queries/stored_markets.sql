-- ingestion, order books, orders: what an adapter needs to know about stored markets, by key
SELECT ref, platform_id, slug, event_id, series_id, source_url, title, outcome_ids, outcome_names, token_ids, s.status AS status,
  trading_start_at, trading_end_at, metadata
FROM (
  SELECT market_key, ref, platform_id, slug, event_id, series_id, source_url, title, outcome_ids, outcome_names, token_ids, trading_start_at, trading_end_at, metadata
  FROM markets FINAL
  PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
) AS m
LEFT JOIN (
  SELECT market_key, status FROM market_state FINAL
  PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
) AS s USING (market_key)
