-- GET markets/price-history, GET metrics/historical: buckets of each market that are wider than the platform's own bars, unordered
-- A bar has a price only if something traded in it, or if it samples midpoints; a close that it carries forward is not a price.
-- Bid and ask are of the same moment, so they are one tuple: argMin and argMax of each would skip moments with that side empty.
SELECT market_key AS key, toUnixTimestamp(toStartOfInterval(c.t, toIntervalSecond({step:UInt32}))) AS t,
  argMinIf(c.open, c.t, c.source = 'midpoint' OR c.volume > 0) AS open, maxIf(c.high, c.source = 'midpoint' OR c.volume > 0) AS high,
  minIf(c.low, c.source = 'midpoint' OR c.volume > 0) AS low, argMaxIf(c.close, c.t, c.source = 'midpoint' OR c.volume > 0) AS close,
  argMin(c.previous_close, c.t) AS previous_close,
  [argMinIf(tuple(c.bid_open), c.t, isNotNull(c.bid_open) OR isNotNull(c.ask_open)).1, max(c.bid_high), min(c.bid_low), argMaxIf(tuple(c.bid_close), c.t, isNotNull(c.bid_close) OR isNotNull(c.ask_close)).1] AS bid,
  [argMinIf(tuple(c.ask_open), c.t, isNotNull(c.bid_open) OR isNotNull(c.ask_open)).1, max(c.ask_high), min(c.ask_low), argMaxIf(tuple(c.ask_close), c.t, isNotNull(c.bid_close) OR isNotNull(c.ask_close)).1] AS ask,
  if(count(c.volume) = 0, NULL, toDecimal64(sum(c.volume), 6)) AS volume,
  if(count(c.volume) = 0 OR countIf(c.volume > 0 AND c.mean IS NULL) > 0, NULL, toDecimal64(roundBankers(sum(toDecimal128(ifNull(c.mean, 0), 10) * ifNull(c.volume, 0)), 6), 6)) AS notional,
  argMax(c.open_interest, c.t) AS open_interest, toString(any(c.source)) AS source
FROM platform_candles AS c FINAL
PREWHERE market_key IN {keys:Array(UInt64)} AND interval_min = if({step:UInt32} < 3600, 1, 60)
  AND c.t >= toDateTime({start:UInt32}, 'UTC') AND c.t < toDateTime({end:UInt32}, 'UTC')
GROUP BY market_key, t
