-- GET trades/whales: what the markets of a page are called; a market that is traded before it is listed has its reference only
SELECT market_key, if(platform_id = '', ref, platform_id) AS market_id, title
FROM (SELECT DISTINCT market_key, ref FROM market_refs WHERE market_key IN {keys:Array(UInt64)}) AS r
LEFT JOIN (
  SELECT market_key, platform_id, title FROM markets FINAL
  WHERE platform IN {platforms:Array(String)} AND market_key IN {keys:Array(UInt64)}
) AS m USING (market_key)
