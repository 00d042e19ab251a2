-- GET markets/price-history, GET metrics/historical: the newest bar of stored trades with a price before {start}, none if there is none
-- {candles} and {series} as in bars_of_trades.sql.
SELECT toUnixTimestamp(t) AS t, c.2 AS close FROM (
  SELECT t, max(h) AS top, max(c) AS c FROM {candles:Identifier}
  WHERE market_key = sipHash64({platform:String}, {ref:String}) AND series = {series:UInt8} AND t < toDateTime({start:UInt32}, 'UTC')
  GROUP BY t HAVING top >= 0
  ORDER BY t DESC LIMIT 1
)
