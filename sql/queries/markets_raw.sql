-- include_raw of GET markets, GET markets/id/{id}: what the platform sent of the markets of one page
SELECT market_key, raw FROM market_raw FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
