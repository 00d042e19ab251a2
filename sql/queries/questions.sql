-- ingestion: what these markets of a platform ask, as answers show them
SELECT market_key, body, category_slug
FROM (SELECT market_key, body FROM market_info_texts FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}) AS i
INNER JOIN (
  SELECT market_key, category_slug FROM market_state FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
) AS s USING (market_key)
