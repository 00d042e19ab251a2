-- endpoints with market ids, markets that are not copied to PostgreSQL yet; BOOKS_MARKETS: references of stored markets by references, platform ids or slugs
-- One branch per index: an OR over them would read every market.
SELECT ref, platform_id, slug FROM markets FINAL
PREWHERE platform = {platform:String} AND market_key IN (
  SELECT arrayJoin(arrayMap(id -> sipHash64({platform:String}, id), {ids:Array(String)}))
  UNION ALL
  SELECT market_key FROM markets WHERE platform = {platform:String} AND platform_id IN {ids:Array(String)}
  UNION ALL
  SELECT market_key FROM markets WHERE platform = {platform:String} AND slug IN {ids:Array(String)}
)
ORDER BY version
