-- every endpoint that takes a market id: the stored market a user means by a platform id, a reference or a slug
-- One branch an index: an OR over them would read every market.
WITH found AS (
  SELECT market_key FROM markets WHERE platform = {platform:String} AND market_key = sipHash64({platform:String}, {id:String})
  UNION ALL
  SELECT market_key FROM markets WHERE platform = {platform:String} AND platform_id = {id:String}
  UNION ALL
  SELECT market_key FROM markets WHERE platform = {platform:String} AND slug = {id:String}
)
SELECT m.market_key AS market_key, ref, platform_id, slug, event_id, series_id, source_url, title, outcome_ids, outcome_names, token_ids, s.status AS status,
  trading_start_at, trading_end_at, metadata
FROM (
  SELECT market_key, ref, platform_id, slug, event_id, series_id, source_url, title, outcome_ids, outcome_names, token_ids, trading_start_at, trading_end_at, metadata, version
  FROM markets FINAL
  WHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM found)
) AS m
LEFT JOIN (
  SELECT market_key, status FROM market_state FINAL
  WHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM found)
) AS s USING (market_key)
ORDER BY platform_id = {id:String} DESC, ref = {id:String} DESC, version DESC
LIMIT 1
