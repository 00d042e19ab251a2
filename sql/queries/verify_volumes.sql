-- npm run verify: volume_1h against the trades of markets in [low, high] (with {keys}, of these)
SELECT count() AS compared, countIf(a.n = 0) AS missing, countIf(e.n = 0) AS extra,
  countIf(e.n != 0 AND a.n != 0 AND (e.v, e.q, e.n) != (a.v, a.q, a.n)) AS different,
  anyIf(concat('market ', toString(market_key), ', ', toString(hour), ': ', toString((a.v, a.q, a.n)), ' instead of ', toString((e.v, e.q, e.n))), (e.v, e.q, e.n) != (a.v, a.q, a.n)) AS example
FROM (
  SELECT market_key, platform, toStartOfHour(executed_at) AS hour, toDecimal128(sum(size), 6) AS v, toDecimal128(sum(notional), 6) AS q, toInt64(count()) AS n
  FROM trades FINAL
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND executed_at >= toDateTime({since:UInt32}, 'UTC')
  GROUP BY market_key, platform, hour
) AS e
FULL OUTER JOIN (
  SELECT market_key, platform, hour, toDecimal128(sum(v), 6) AS v, toDecimal128(sum(q), 6) AS q, sum(n) AS n
  FROM (SELECT market_key, platform, hour, v, q, n FROM volume_1h)
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND hour >= toDateTime({since:UInt32}, 'UTC')
  GROUP BY market_key, platform, hour HAVING (v, q, n) != (0, 0, 0)
) AS a USING (market_key, platform, hour)
