-- GET markets/price-history, GET metrics/historical: buckets of each market from our own bars of stored trades, unordered
-- {candles} is candles_1m for buckets below an hour, else candles_1h. A bucket of block trades alone has no price.
SELECT market_key AS key, toUnixTimestamp(b) AS t,
  if(priced, toNullable(first.2.2), NULL) AS open, if(priced, toNullable(top), NULL) AS high,
  if(priced, toNullable(bottom), NULL) AS low, if(priced, toNullable(last.2.2), NULL) AS close,
  toDecimal64(volume_sum, 6) AS volume, toDecimal64(notional_sum, 6) AS notional, n AS trades
FROM (
  SELECT market_key, toStartOfInterval(t, toIntervalSecond({step:UInt32})) AS b, max(h) >= 0 AS priced,
    minIf((t, o), h >= 0) AS first, max(h) AS top, min(l) AS bottom, maxIf((t, c), h >= 0) AS last,
    sumWithOverflow(v) AS volume_sum, sumWithOverflow(q) AS notional_sum, sum(trade_count) AS n
  FROM (
    SELECT market_key, t, o, h, l, c, v, q, n AS trade_count FROM {candles:Identifier}
    WHERE market_key IN {keys:Array(UInt64)} AND series = {series:UInt8}
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
  )
  GROUP BY market_key, b HAVING n > 0
)
