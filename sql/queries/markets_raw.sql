-- include_raw of GET markets, GET markets/id/{id}: the platform's own objects of a page's markets
SELECT market_key, raw FROM market_raw FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
