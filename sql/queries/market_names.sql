-- GET trades/whales, analytics/trending: what the markets of a page are called; a market that is traded before it is listed has
-- its reference only
SELECT market_key, if(platform_id = '', ref, platform_id) AS market_id, title, source_url, image_url
FROM (SELECT DISTINCT market_key, ref FROM market_refs WHERE market_key IN {keys:Array(UInt64)}) AS r
FULL OUTER JOIN (
  SELECT market_key, platform_id, title, source_url, image_url FROM markets FINAL
  WHERE platform IN {platforms:Array(String)} AND market_key IN {keys:Array(UInt64)}
) AS m USING (market_key)
