-- GET trades/whales, analytics/trending: names of a page's markets
SELECT market_key, platform_id AS market_id, title, metadata, source_url, image_url FROM markets FINAL
PREWHERE (platform, market_key) IN {markets:Array(Tuple(String, UInt64))}
