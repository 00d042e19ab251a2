-- GET markets/price-history, GET metrics/historical: the start of the next bar of one market from {start} on; null if there is none
-- Parameters are those of bars_of_trades.sql and bars_of_quotes.sql.
SELECT if(count() = 0, NULL, min(first)) AS t
FROM (
  SELECT toUnixTimestamp(t) AS first FROM (
    SELECT t FROM {candles:Identifier}
    WHERE market_key = sipHash64({platform:String}, {ref:String}) AND series = {series:UInt8} AND t >= toDateTime({start:UInt32}, 'UTC')
    ORDER BY t LIMIT 1
  )
  UNION ALL
  SELECT toUnixTimestamp(t) FROM (
    SELECT t FROM platform_candles
    WHERE market_key = sipHash64({platform:String}, {ref:String}) AND {series:UInt8} = 0
      AND interval_min = if({step:UInt32} < 3600, 1, 60) AND t >= toDateTime({start:UInt32}, 'UTC')
    ORDER BY t LIMIT 1
  )
  UNION ALL
  SELECT toUnixTimestamp(toDateTime(at)) FROM (
    SELECT at FROM market_snapshots
    WHERE {quotes_alone:Bool} AND market_key = sipHash64({platform:String}, {ref:String}) AND {series:UInt8} = 0
      AND at >= toDateTime64({start:UInt32}, 3, 'UTC')
    ORDER BY at LIMIT 1
  )
)
