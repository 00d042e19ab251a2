-- present: markets with trades after a key, in the order of keys, and their newest trade
SELECT market_key, toUnixTimestamp64Micro(max(last_trade_at)) AS last_us FROM market_totals
WHERE platform = {platform:String} AND market_key > {after:UInt64}
GROUP BY market_key ORDER BY market_key LIMIT {limit:UInt32}
