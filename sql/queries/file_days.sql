-- files: the days that have rows of each platform, and what tells a day that changed from one that did not
SELECT 'trades' AS kind, platform, toString(toDate(hour)) AS day, sum(n) AS rows, concat(toString(sum(n)), ' ', toString(sumWithOverflow(v)), ' ', toString(sumWithOverflow(q))) AS content
FROM volume_1h
WHERE platform IN {platforms:Array(String)} AND hour >= {from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
GROUP BY platform, day HAVING rows > 0
UNION ALL
SELECT 'markets' AS kind, platform, toString(toDate(at)) AS day, uniqExact(market_key) AS rows, concat(toString(uniqExact(market_key)), ' ', toString(max(at))) AS content
FROM market_snapshots
WHERE platform IN {platforms:Array(String)} AND at >= {from:DateTime('UTC')} AND at < {to:DateTime('UTC')}
GROUP BY platform, day
