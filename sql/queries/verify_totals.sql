-- npm run verify: market_totals against the trades of markets in [low, high] (with {keys}, of these)
SELECT count() AS compared, countIf(a.n = 0) AS missing, countIf(e.n = 0) AS extra,
  countIf(e.n != 0 AND a.n != 0 AND e.facts != a.facts) AS different,
  anyIf(concat('market ', toString(market_key), ': ', toString(a.facts), ' instead of ', toString(e.facts)), e.facts != a.facts) AS example
FROM (
  SELECT market_key, toInt64(count()) AS n,
    (toDecimal128(sum(size), 6), toDecimal128(sum(notional), 6), n, min(executed_at), max(executed_at), uniqExactIf(trader, trader != '')) AS facts
  FROM trades FINAL
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */
  GROUP BY market_key
) AS e
FULL OUTER JOIN (
  SELECT market_key, sum(t.n) AS n, (toDecimal128(sum(v), 6), toDecimal128(sum(q), 6), n, min(first_trade_at), max(last_trade_at), uniqExactIfMerge(traders)) AS facts
  FROM market_totals AS t
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */
  GROUP BY market_key HAVING n != 0
) AS a USING (market_key)
