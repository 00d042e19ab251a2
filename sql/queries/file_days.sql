-- files: days with rows of each platform, and a value that changes when a day's rows change
-- A market traded before it was listed gets another id when it is listed.
SELECT 'trades' AS kind, t.platform AS platform, toString(t.date) AS day, sum(t.n) AS rows,
  concat(toString(rows), ' ', toString(sumWithOverflow(t.v)), ' ', toString(sumWithOverflow(t.q)), ' ', hex(groupBitXor(sipHash64(t.market_key, m.platform_id)))) AS content
FROM (
  SELECT platform, toDate(hour) AS date, market_key, sum(n) AS n, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q
  FROM volume_1h
  WHERE platform IN {platforms:Array(String)} AND hour >= {from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
  GROUP BY platform, date, market_key
) AS t
LEFT JOIN (
  SELECT market_key, argMax(platform_id, version) AS platform_id FROM markets
  WHERE platform IN {platforms:Array(String)} AND market_key IN (
    SELECT market_key FROM volume_1h WHERE platform IN {platforms:Array(String)} AND hour >= {from:DateTime('UTC')} AND hour < {to:DateTime('UTC')})
  GROUP BY market_key
) AS m ON m.market_key = t.market_key
GROUP BY platform, day HAVING rows > 0
UNION ALL
SELECT 'quotes' AS kind, platform, toString(toDate(at)) AS day, count() AS rows, concat(toString(rows), ' ', toString(max(at))) AS content
FROM market_snapshots
WHERE platform IN {platforms:Array(String)} AND at >= {readings_from:DateTime('UTC')} AND at < {to:DateTime('UTC')}
GROUP BY platform, day
UNION ALL
SELECT 'books' AS kind, platform, toString(toDate(received_at)) AS day, count() AS rows, concat(toString(rows), ' ', toString(max(received_at))) AS content
FROM book_changes
WHERE platform IN {platforms:Array(String)} AND received_at >= {readings_from:DateTime('UTC')} AND received_at < {to:DateTime('UTC')}
GROUP BY platform, day
