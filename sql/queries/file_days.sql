-- files: the days that have rows of each platform, and what differs when a day has changed
-- A market that was traded before it was listed changes its name when it is. Bars have a content of their own beside their trades':
-- a correction of them alone moves no volume.
SELECT 'trades' AS kind, t.platform AS platform, toString(t.date) AS day, sum(t.n) AS rows,
  concat(toString(rows), ' ', toString(sumWithOverflow(t.v)), ' ', toString(sumWithOverflow(t.q)), ' ', hex(groupBitXor(sipHash64(t.market_key, m.platform_id)))) AS content
FROM (
  SELECT platform, toDate(hour) AS date, market_key, sum(n) AS n, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q
  FROM volume_1h
  WHERE platform IN {platforms:Array(String)} AND hour >= {from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
  GROUP BY platform, date, market_key
) AS t
LEFT JOIN (
  SELECT market_key, argMax(platform_id, version) AS platform_id FROM markets WHERE platform IN {platforms:Array(String)} GROUP BY market_key
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
UNION ALL
SELECT 'candles_1m' AS kind, p.platform AS platform, toString(toDate(c.t)) AS day, count() AS rows,
  hex(groupBitXor(sipHash64(c.market_key, c.series, c.t, c.o, c.h, c.l, c.c, c.v, c.q, c.n))) AS content
FROM (
  SELECT market_key, series, t, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM candles_1m
  WHERE t >= {readings_from:DateTime('UTC')} AND t < {to:DateTime('UTC')} AND market_key IN (
    SELECT market_key FROM volume_1h WHERE platform IN {platforms:Array(String)} AND hour >= {readings_from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
  )
  GROUP BY market_key, series, t HAVING n > 0
  SETTINGS optimize_aggregation_in_order = 1
) AS c
INNER JOIN (
  SELECT DISTINCT market_key, platform FROM volume_1h
  WHERE platform IN {platforms:Array(String)} AND hour >= {readings_from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
) AS p ON p.market_key = c.market_key
GROUP BY platform, day
UNION ALL
SELECT 'candles_1h' AS kind, p.platform AS platform, toString(toDate(c.t)) AS day, count() AS rows,
  hex(groupBitXor(sipHash64(c.market_key, c.series, c.t, c.o, c.h, c.l, c.c, c.v, c.q, c.n))) AS content
FROM (
  SELECT market_key, series, t, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM candles_1h
  WHERE t >= {readings_from:DateTime('UTC')} AND t < {to:DateTime('UTC')} AND market_key IN (
    SELECT market_key FROM volume_1h WHERE platform IN {platforms:Array(String)} AND hour >= {readings_from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
  )
  GROUP BY market_key, series, t HAVING n > 0
  SETTINGS optimize_aggregation_in_order = 1
) AS c
INNER JOIN (
  SELECT DISTINCT market_key, platform FROM volume_1h
  WHERE platform IN {platforms:Array(String)} AND hour >= {readings_from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
) AS p ON p.market_key = c.market_key
GROUP BY platform, day
