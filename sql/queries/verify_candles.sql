-- npm run verify: bars of {table} (a bar is {step} seconds) against the trades of markets in [low, high] (with {keys}, of these)
SELECT count() AS compared, countIf(a.n = 0) AS missing, countIf(e.n = 0) AS extra,
  countIf(e.n != 0 AND a.n != 0 AND (e.prices, e.v, e.q, e.n) != (a.prices, a.v, a.q, a.n)) AS different,
  anyIf(concat('market ', toString(market_key), ', series ', toString(series), ', ', toString(t), ': ', toString((a.prices, a.v, a.q, a.n)), ' instead of ', toString((e.prices, e.v, e.q, e.n))),
    (e.prices, e.v, e.q, e.n) != (a.prices, a.v, a.q, a.n)) AS example
FROM (
  SELECT market_key, series, toDateTime(toStartOfInterval(executed_at, toIntervalSecond({step:UInt32})), 'UTC') AS t,
    if(countIf(NOT is_block) = 0, [], [argMinIf(series_price, (place, series_price), NOT is_block), maxIf(series_price, NOT is_block), minIf(series_price, NOT is_block), argMaxIf(series_price, (place, series_price), NOT is_block)]) AS prices,
    toDecimal128(sum(size), 6) AS v, toDecimal128(sum(notional), 6) AS q, toInt64(count()) AS n
  FROM trades FINAL
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND executed_at >= toDateTime({since:UInt32}, 'UTC')
  GROUP BY market_key, series, t
) AS e
FULL OUTER JOIN (
  SELECT market_key, series, t, if(max(h) < 0, [], [min(o).2, max(h), min(l), max(c).2]) AS prices, toDecimal128(sum(v), 6) AS v, toDecimal128(sum(q), 6) AS q, sum(n) AS n
  FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM {table:Identifier})
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND t >= toDateTime({since:UInt32}, 'UTC')
  GROUP BY market_key, series, t HAVING (v, q, n) != (0, 0, 0)
) AS a USING (market_key, series, t)
