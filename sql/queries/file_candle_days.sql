-- files: days with bars of {table}, and a value that changes when any field of a day's bars is corrected
SELECT p.platform AS platform, toString(toDate(c.t)) AS day,
  hex(groupBitXor(sipHash64(c.market_key, c.series, c.t, c.o, c.h, c.l, c.c, c.v, c.q, c.n))) AS content
FROM (
  SELECT market_key, series, t, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM {table:Identifier}
  WHERE t >= {from:DateTime('UTC')} AND t < {to:DateTime('UTC')} AND market_key IN (
    SELECT market_key FROM volume_1h WHERE platform IN {platforms:Array(String)} AND hour >= {from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
  )
  GROUP BY market_key, series, t HAVING n > 0
  SETTINGS optimize_aggregation_in_order = 1
) AS c
INNER JOIN (
  SELECT DISTINCT market_key, platform FROM volume_1h
  WHERE platform IN {platforms:Array(String)} AND hour >= {from:DateTime('UTC')} AND hour < {to:DateTime('UTC')}
) AS p ON p.market_key = c.market_key
GROUP BY platform, day
