-- present: references of the markets after a key, in the order of keys
SELECT ref, market_key FROM markets FINAL
WHERE platform = {platform:String} AND market_key > {after:UInt64}
ORDER BY market_key LIMIT {limit:UInt32}
