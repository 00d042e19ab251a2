-- Adds to {table}, with bars of {step} seconds, what it lacks compared with the trades, for hours of markets in [low, high] that received rows since {since}.
INSERT INTO {table:Identifier}
WITH touched AS (
  SELECT DISTINCT market_key, toStartOfHour(executed_at) AS hour FROM trades WHERE platform = {platform:String} AND market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND ingested_at >= {since:DateTime64(3)} AND executed_at >= {kept_from:DateTime64(3)}
)
SELECT market_key, series, t, e.o AS o, e.h AS h, e.l AS l, e.c AS c, e.v - a.v AS v, e.q - a.q AS q, e.n - a.n AS n
FROM (
  SELECT market_key, series, toDateTime(toStartOfInterval(executed_at, toIntervalSecond({step:UInt32})), 'UTC') AS t,
    min(if(is_block, (toUInt64(18446744073709551615), toDecimal64(0, 10)), (place, series_price))) AS o,
    max(if(is_block, toDecimal64(-1, 10), series_price)) AS h,
    min(if(is_block, toDecimal64(9, 10), series_price)) AS l,
    max(if(is_block, (toUInt64(0), toDecimal64(-1, 10)), (place, series_price))) AS c,
    sumWithOverflow(size) AS v, sumWithOverflow(notional) AS q, toInt64(count()) AS n
  FROM trades FINAL
  WHERE market_key IN (SELECT market_key FROM touched) AND (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, hour FROM touched)
  GROUP BY market_key, series, t
) AS e
LEFT JOIN (
  SELECT market_key, series, t, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM {table:Identifier}
  WHERE market_key IN (SELECT market_key FROM touched) AND (market_key, toStartOfHour(t)) IN (SELECT market_key, hour FROM touched)
  GROUP BY market_key, series, t
) AS a USING (market_key, series, t)
WHERE (e.n, e.v, e.q, e.o, e.h, e.l, e.c) != (a.n, a.v, a.q, a.o, a.h, a.l, a.c)
