-- GET trades/whales: markets that are traded before they are listed have a reference only
SELECT DISTINCT market_key, ref FROM market_refs WHERE market_key IN {keys:Array(UInt64)}
