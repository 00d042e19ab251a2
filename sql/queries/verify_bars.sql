-- npm run verify: buckets of the sample whose bar is not the one its raw trades make: extremes, first and last included
SELECT count() AS compared, countIf((e.n, e.v, e.q, e.h, e.l, e.o, e.c) != (a.n, a.v, a.q, a.h, a.l, a.o, a.c)) AS different
FROM (
  SELECT market_key, series, toStartOfInterval(toDateTime(executed_at), toIntervalSecond({step:UInt32})) AS t,
    toInt64(count()) AS n, toDecimal64(sum(size), 6) AS v, toDecimal64(sum(notional), 6) AS q,
    max(if(is_block, toDecimal64(-1, 10), series_price)) AS h, min(if(is_block, toDecimal64(9, 10), series_price)) AS l,
    min(if(is_block, (toUInt64(18446744073709551615), toDecimal64(0, 10)), (place, series_price))) AS o,
    max(if(is_block, (toUInt64(0), toDecimal64(-1, 10)), (place, series_price))) AS c
  FROM trades FINAL WHERE market_key % {every:UInt64} = 0 GROUP BY market_key, series, t
) AS e
FULL OUTER JOIN (
  SELECT market_key, series, t, sum(n) AS n, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, max(h) AS h, min(l) AS l, min(o) AS o, max(c) AS c
  FROM {table:Identifier} WHERE market_key % {every:UInt64} = 0 GROUP BY market_key, series, t
) AS a USING (market_key, series, t)
