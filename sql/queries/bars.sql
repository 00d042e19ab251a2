-- GET markets/price-history, GET metrics/historical: one market's buckets, a row a bucket and source:
-- in no order: trades (our own bars), platform (the platform's bars), snapshots (quotes of our sweeps)
SELECT 'trades' AS src, toUnixTimestamp(b) AS t,
  if(o.1 < toDateTime64('2200-01-01 00:00:00', 6, 'UTC'), toNullable(o.3), NULL) AS open,
  if(o.1 < toDateTime64('2200-01-01 00:00:00', 6, 'UTC'), toNullable(h), NULL) AS high,
  if(o.1 < toDateTime64('2200-01-01 00:00:00', 6, 'UTC'), toNullable(l), NULL) AS low,
  if(o.1 < toDateTime64('2200-01-01 00:00:00', 6, 'UTC'), toNullable(c.3), NULL) AS close,
  CAST(NULL, 'Nullable(Decimal64(10))') AS previous_close, CAST(NULL, 'Nullable(Decimal64(10))') AS mean,
  [CAST(NULL, 'Nullable(Decimal64(10))')] AS bid, [CAST(NULL, 'Nullable(Decimal64(10))')] AS ask,
  toNullable(toDecimal64(v, 6)) AS volume, toNullable(toDecimal64(q, 6)) AS notional, n AS trades,
  CAST(NULL, 'Nullable(Decimal64(6))') AS open_interest, toDateTime64(0, 3, 'UTC') AS read_at, 'trades' AS source
FROM (
  SELECT toStartOfInterval(t, toIntervalSecond({step:UInt32})) AS b, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c,
    sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM (
    SELECT t, o, h, l, c, v, q, n FROM candles_1m
    WHERE {step:UInt32} < 3600 AND market_key = sipHash64({platform:String}, {ref:String}) AND series = {series:UInt8}
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
    UNION ALL
    SELECT t, o, h, l, c, v, q, n FROM candles_1h
    WHERE {step:UInt32} >= 3600 AND market_key = sipHash64({platform:String}, {ref:String}) AND series = {series:UInt8}
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
  )
  GROUP BY b HAVING n > 0
)
UNION ALL
SELECT 'platform', toUnixTimestamp(toStartOfInterval(c.t, toIntervalSecond({step:UInt32}))) AS b,
  argMin(open, c.t), max(high), min(low), argMax(close, c.t), argMin(previous_close, c.t), if(count(mean) = 1, any(mean), NULL),
  [argMin(bid_open, c.t), max(bid_high), min(bid_low), argMax(bid_close, c.t)],
  [argMin(ask_open, c.t), max(ask_high), min(ask_low), argMax(ask_close, c.t)],
  if(count(volume) = 0, NULL, toDecimal64(sum(volume), 6)), NULL, 0, argMax(open_interest, c.t), min(version), toString(any(source))
FROM platform_candles AS c FINAL
WHERE market_key = sipHash64({platform:String}, {ref:String}) AND {series:UInt8} = 0
  AND interval_min = if({step:UInt32} < 3600, 1, 60)
  AND c.t >= toDateTime({start:UInt32}, 'UTC') AND c.t < toDateTime({end:UInt32}, 'UTC')
GROUP BY b
UNION ALL
SELECT 'snapshots', toUnixTimestamp(toStartOfInterval(toDateTime(at), toIntervalSecond({step:UInt32}))) AS b,
  NULL, NULL, NULL, NULL, NULL, NULL,
  [argMin(bid, at), max(bid), min(bid), argMax(bid, at)], [argMin(ask, at), max(ask), min(ask), argMax(ask, at)],
  NULL, NULL, 0, argMax(open_interest, at), max(at), 'snapshots'
FROM market_snapshots
WHERE market_key = sipHash64({platform:String}, {ref:String}) AND {series:UInt8} = 0
  AND at >= toDateTime64({start:UInt32}, 3, 'UTC') AND at < toDateTime64({end:UInt32}, 3, 'UTC')
GROUP BY b
