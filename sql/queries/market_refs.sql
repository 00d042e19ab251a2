-- GET trades/whales: references of markets, which is all that a market traded before its listing has
SELECT DISTINCT market_key, ref FROM market_refs WHERE market_key IN {keys:Array(UInt64)}
