-- Adds to volume_1h what it lacks compared with the trades, for hours of markets in [low, high] that received rows since {since}.
INSERT INTO volume_1h
WITH touched AS (
  SELECT DISTINCT market_key, toStartOfHour(executed_at) AS hour FROM trades WHERE platform = {platform:String} AND market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND ingested_at >= {since:DateTime64(3)} AND executed_at >= {kept_from:DateTime64(3)}
)
SELECT hour, platform, market_key, e.v - a.v AS v, e.q - a.q AS q, e.n - a.n AS n
FROM (
  SELECT toStartOfHour(executed_at) AS hour, platform, market_key, sumWithOverflow(size) AS v, sumWithOverflow(notional) AS q, toInt64(count()) AS n
  FROM trades FINAL
  WHERE market_key IN (SELECT market_key FROM touched) AND (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, hour FROM touched)
  GROUP BY hour, platform, market_key
) AS e
LEFT JOIN (
  SELECT hour, platform, market_key, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM volume_1h
  WHERE hour IN (SELECT hour FROM touched) AND market_key IN (SELECT market_key FROM touched)
  GROUP BY hour, platform, market_key
) AS a USING (hour, platform, market_key)
WHERE e.n != a.n OR e.v != a.v OR e.q != a.q
