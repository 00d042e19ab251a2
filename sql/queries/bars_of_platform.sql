-- GET markets/price-history, GET metrics/historical: the platform's own bars of each market, of 1 or 60 minutes, unordered
-- A bar has a price only if something traded in it, or if it samples midpoints; a close that it carries forward is not a price.
-- Without functions of groups, planning takes half of the time: buckets that are no wider than a bar are read with this.
SELECT market_key AS key, toUnixTimestamp(c.t) AS t, c.source = 'midpoint' OR c.volume > 0 AS priced,
  if(priced, c.open, NULL) AS open, if(priced, c.high, NULL) AS high, if(priced, c.low, NULL) AS low, if(priced, c.close, NULL) AS close, c.previous_close AS previous_close,
  [c.bid_open, c.bid_high, c.bid_low, c.bid_close] AS bid, [c.ask_open, c.ask_high, c.ask_low, c.ask_close] AS ask, c.volume AS volume,
  toDecimal64(roundBankers(if(c.volume = 0, 0, toDecimal128(c.mean, 10) * c.volume), 6), 6) AS notional,
  c.open_interest AS open_interest, toString(c.source) AS source
FROM platform_candles AS c FINAL
PREWHERE market_key IN {keys:Array(UInt64)} AND interval_min = if({step:UInt32} < 3600, 1, 60)
  AND c.t >= toDateTime({start:UInt32}, 'UTC') AND c.t < toDateTime({end:UInt32}, 'UTC')
