-- files: the days that have rows of each platform, and what differs when a day has changed
SELECT 'trades' AS kind, platform, toString(toDate(hour)) AS day, sum(n) AS rows, concat(toString(sum(n)), ' ', toString(sumWithOverflow(v)), ' ', toString(sumWithOverflow(q))) AS content
FROM volume_1h
WHERE platform IN {platforms:Array(String)} AND hour >= {from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
GROUP BY platform, day HAVING rows > 0
UNION ALL
SELECT 'quotes' AS kind, platform, toString(toDate(at)) AS day, count() AS rows, concat(toString(rows), ' ', toString(max(at))) AS content
FROM market_snapshots
WHERE platform IN {platforms:Array(String)} AND at >= {from:DateTime('UTC')} AND at < {to:DateTime('UTC')}
GROUP BY platform, day
UNION ALL
SELECT 'books' AS kind, platform, toString(toDate(received_at)) AS day, count() AS rows, concat(toString(rows), ' ', toString(max(received_at))) AS content
FROM book_changes
WHERE platform IN {platforms:Array(String)} AND received_at >= {from:DateTime('UTC')} AND received_at < {to:DateTime('UTC')}
GROUP BY platform, day
