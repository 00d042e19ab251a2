-- GET analytics/trending: markets of a page whose order book has not been read yet
SELECT market_key FROM market_state FINAL
PREWHERE (platform, market_key) IN {markets:Array(Tuple(String, UInt64))}
WHERE status IN ('open', 'paused') AND JSONExtractString(metadata, 'liquidity_basis') = 'none'
