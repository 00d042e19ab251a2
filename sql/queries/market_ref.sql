-- endpoints with a market id: the reference of the stored market for a platform id or a slug
-- One branch per index: an OR over them would read every market.
SELECT ref FROM markets FINAL
PREWHERE platform = {platform:String} AND market_key IN (
  SELECT market_key FROM markets WHERE platform = {platform:String} AND platform_id = {id:String}
  UNION ALL
  SELECT market_key FROM markets WHERE platform = {platform:String} AND slug = {id:String}
)
ORDER BY platform_id = {id:String} DESC, version DESC
LIMIT 1
