-- Adds to market_totals what it lacks, for markets in [low, high] that received rows since {since}: sums from the hourly bars, which
-- are corrected first and outlive the trades; first and last times and traders from the stored trades, which only extend them.
INSERT INTO market_totals
WITH touched AS (SELECT DISTINCT market_key FROM trades WHERE platform = {platform:String} AND market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND ingested_at >= {since:DateTime64(3)})
SELECT market_key, {platform:String} AS platform, e.v - a.v AS v, e.q - a.q AS q, e.n - a.n AS n, e.first_trade_at, e.last_trade_at, e.traders
FROM (
  SELECT market_key, b.v AS v, b.q AS q, b.n AS n, first_trade_at, last_trade_at, traders
  FROM (
    SELECT market_key, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
    FROM candles_1h WHERE market_key IN (SELECT market_key FROM touched) GROUP BY market_key
  ) AS b
  INNER JOIN (
    SELECT market_key, min(executed_at) AS first_trade_at, max(executed_at) AS last_trade_at, uniqExactIfState(sipHash64(trader), trader != '') AS traders
    FROM trades WHERE market_key IN (SELECT market_key FROM touched) GROUP BY market_key
  ) AS r USING (market_key)
) AS e
LEFT JOIN (
  SELECT market_key, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM market_totals WHERE market_key IN (SELECT market_key FROM touched) GROUP BY market_key
) AS a USING (market_key)
WHERE e.n != a.n OR e.v != a.v OR e.q != a.q
