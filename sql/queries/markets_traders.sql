-- GET markets, GET markets/id/{id}: takers among the stored trades of the markets of one page, where trades name them
SELECT market_key, uniqExactIfMerge(traders) AS unique_traders, min(first_trade_at) AS unique_traders_since
FROM market_totals
WHERE market_key IN {keys:Array(UInt64)}
GROUP BY market_key
HAVING unique_traders > 0
