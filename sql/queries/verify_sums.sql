-- npm run verify: markets of the sample whose roll-up tells another count, volume or notional than their raw trades
SELECT count() AS compared, countIf(e.n != a.n OR e.v != a.v OR e.q != a.q) AS different
FROM (
  SELECT market_key, toInt64(count()) AS n, sum(size) AS v, sum(notional) AS q FROM trades FINAL
  WHERE market_key % {every:UInt64} = 0 GROUP BY market_key
) AS e
FULL OUTER JOIN (
  SELECT market_key, sum(n) AS n, sum(v) AS v, sum(q) AS q FROM {table:Identifier}
  WHERE market_key % {every:UInt64} = 0 GROUP BY market_key
) AS a USING (market_key)
