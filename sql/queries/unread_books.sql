-- GET analytics/trending: markets of a page of whose order book nothing is known yet
SELECT market_key FROM market_state FINAL
PREWHERE (platform, market_key) IN {markets:Array(Tuple(String, UInt64))}
WHERE status IN ('open', 'paused') AND JSONExtractString(metadata, 'liquidity_basis') = 'none'
