-- GET markets, orderbooks and markets/prices with market_ids: references of stored markets by platform ids or slugs
-- One branch per index: an OR over them would read every market.
SELECT ref, platform_id, slug FROM markets FINAL
PREWHERE platform = {platform:String} AND market_key IN (
  SELECT market_key FROM markets WHERE platform = {platform:String} AND platform_id IN {ids:Array(String)}
  UNION ALL
  SELECT market_key FROM markets WHERE platform = {platform:String} AND slug IN {ids:Array(String)}
)
ORDER BY version
