-- GET markets, GET markets/id/{id}: a page's markets, each as up to three texts: slowly changing facts, facts that change with trading, and
-- takers among its stored trades if these have names. Keys come as they are: an array of hashes takes longer to analyse than to read.
SELECT market_key, 'info' AS part, body FROM market_info_texts FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
UNION ALL
SELECT market_key, 'state' AS part, body FROM market_state_texts FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
UNION ALL
SELECT market_key, 'traders' AS part,
  concat('{"unique_traders":', toString(uniqExactIfMerge(traders) AS unique_traders), ',"unique_traders_since":"',
    replaceOne(substring(toString(min(first_trade_at)), 1, 23), ' ', 'T'), 'Z"}') AS body
FROM market_totals
WHERE market_key IN {keys:Array(UInt64)}
GROUP BY market_key
HAVING unique_traders > 0
