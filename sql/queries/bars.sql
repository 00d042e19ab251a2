-- GET markets/price-history, GET metrics/historical: one market's buckets, one row per bucket and source,
-- unordered: trades (our own bars), platform (the platform's bars), snapshots (quotes of our sweeps)
-- {candles} is candles_1m for buckets below an hour, else candles_1h; {quotes_alone}: whether buckets without a bar are wanted
-- A platform bar has a price only if something traded in it (or it samples midpoints), whatever close it carries forward.
-- Bid and ask are from the same moment: tuples keep a side that was empty, which argMin and argMax would skip.
SELECT 'trades' AS src, toUnixTimestamp(b) AS t,
  if(priced, toNullable(first.2.2), NULL) AS open, if(priced, toNullable(top), NULL) AS high,
  if(priced, toNullable(bottom), NULL) AS low, if(priced, toNullable(last.2.2), NULL) AS close,
  CAST(NULL, 'Nullable(Decimal64(10))') AS previous_close,
  [CAST(NULL, 'Nullable(Decimal64(10))')] AS bid, [CAST(NULL, 'Nullable(Decimal64(10))')] AS ask,
  toNullable(toDecimal64(volume_sum, 6)) AS volume, toNullable(toDecimal64(notional_sum, 6)) AS notional, n AS trades,
  CAST(NULL, 'Nullable(Decimal64(6))') AS open_interest, toDateTime64(0, 3, 'UTC') AS read_at, 'trades' AS source
FROM (
  SELECT toStartOfInterval(t, toIntervalSecond({step:UInt32})) AS b, max(h) >= 0 AS priced,
    minIf((t, o), h >= 0) AS first, max(h) AS top, min(l) AS bottom, maxIf((t, c), h >= 0) AS last,
    sumWithOverflow(v) AS volume_sum, sumWithOverflow(q) AS notional_sum, sum(trade_count) AS n
  FROM (
    SELECT t, o, h, l, c, v, q, n AS trade_count FROM {candles:Identifier}
    WHERE market_key = sipHash64({platform:String}, {ref:String}) AND series = {series:UInt8}
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
  )
  GROUP BY b HAVING n > 0
)
UNION ALL
SELECT 'platform', toUnixTimestamp(toStartOfInterval(c.t, toIntervalSecond({step:UInt32}))) AS b,
  argMinIf(open, c.t, source = 'midpoint' OR volume > 0), maxIf(high, source = 'midpoint' OR volume > 0),
  minIf(low, source = 'midpoint' OR volume > 0), argMaxIf(close, c.t, source = 'midpoint' OR volume > 0), argMin(previous_close, c.t),
  [argMinIf(tuple(bid_open), c.t, isNotNull(bid_open) OR isNotNull(ask_open)).1, max(bid_high), min(bid_low), argMaxIf(tuple(bid_close), c.t, isNotNull(bid_close) OR isNotNull(ask_close)).1],
  [argMinIf(tuple(ask_open), c.t, isNotNull(bid_open) OR isNotNull(ask_open)).1, max(ask_high), min(ask_low), argMaxIf(tuple(ask_close), c.t, isNotNull(bid_close) OR isNotNull(ask_close)).1],
  if(count(volume) = 0, NULL, toDecimal64(sum(volume), 6)),
  if(count(volume) = 0 OR countIf(volume > 0 AND mean IS NULL) > 0, NULL, toDecimal64(roundBankers(sum(toDecimal128(ifNull(mean, 0), 10) * ifNull(volume, 0)), 6), 6)),
  0, argMax(open_interest, c.t), min(version), toString(any(source))
FROM platform_candles AS c FINAL
PREWHERE market_key = sipHash64({platform:String}, {ref:String}) AND {series:UInt8} = 0
  AND interval_min = if({step:UInt32} < 3600, 1, 60)
  AND c.t >= toDateTime({start:UInt32}, 'UTC') AND c.t < toDateTime({end:UInt32}, 'UTC')
GROUP BY b
UNION ALL
SELECT 'snapshots', toUnixTimestamp(toStartOfInterval(toDateTime(at), toIntervalSecond({step:UInt32}))) AS b,
  NULL, NULL, NULL, NULL, NULL,
  [argMinIf(tuple(bid), at, isNotNull(bid) OR isNotNull(ask)).1, max(bid), min(bid), argMaxIf(tuple(bid), at, isNotNull(bid) OR isNotNull(ask)).1],
  [argMinIf(tuple(ask), at, isNotNull(bid) OR isNotNull(ask)).1, max(ask), min(ask), argMaxIf(tuple(ask), at, isNotNull(bid) OR isNotNull(ask)).1],
  NULL, NULL, 0, argMax(open_interest, at), max(at), 'snapshots'
FROM market_snapshots
WHERE market_key = sipHash64({platform:String}, {ref:String}) AND {series:UInt8} = 0
  AND at >= toDateTime64({start:UInt32}, 3, 'UTC') AND at < toDateTime64({end:UInt32}, 3, 'UTC')
  AND ({quotes_alone:Bool} OR b IN (
    SELECT toUnixTimestamp(toStartOfInterval(t, toIntervalSecond({step:UInt32}))) FROM {candles:Identifier}
    WHERE market_key = sipHash64({platform:String}, {ref:String}) AND series = 0
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
    UNION ALL
    SELECT toUnixTimestamp(toStartOfInterval(t, toIntervalSecond({step:UInt32}))) FROM platform_candles
    WHERE market_key = sipHash64({platform:String}, {ref:String}) AND interval_min = if({step:UInt32} < 3600, 1, 60)
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
  ))
GROUP BY b
