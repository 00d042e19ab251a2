-- GET markets/price-history, GET metrics/historical: one market's buckets of quotes from our sweeps, unordered
-- {quotes_alone}: whether buckets without a bar are wanted. {candles} as in bars_of_trades.sql.
-- Bid and ask are from the same moment: tuples keep a side that was empty, which argMin and argMax would skip.
SELECT toUnixTimestamp(toStartOfInterval(toDateTime(at), toIntervalSecond({step:UInt32}))) AS t,
  [argMinIf(tuple(q.bid), at, isNotNull(q.bid) OR isNotNull(q.ask)).1, max(q.bid), min(q.bid), argMaxIf(tuple(q.bid), at, isNotNull(q.bid) OR isNotNull(q.ask)).1] AS bid,
  [argMinIf(tuple(q.ask), at, isNotNull(q.bid) OR isNotNull(q.ask)).1, max(q.ask), min(q.ask), argMaxIf(tuple(q.ask), at, isNotNull(q.bid) OR isNotNull(q.ask)).1] AS ask,
  argMax(q.open_interest, at) AS open_interest
FROM market_snapshots AS q
WHERE market_key = sipHash64({platform:String}, {ref:String})
  AND at >= toDateTime64({start:UInt32}, 3, 'UTC') AND at < toDateTime64({end:UInt32}, 3, 'UTC')
  AND ({quotes_alone:Bool} OR t IN (
    SELECT toUnixTimestamp(toStartOfInterval(t, toIntervalSecond({step:UInt32}))) FROM {candles:Identifier}
    WHERE market_key = sipHash64({platform:String}, {ref:String}) AND series = 0
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
    UNION ALL
    SELECT toUnixTimestamp(toStartOfInterval(t, toIntervalSecond({step:UInt32}))) FROM platform_candles
    WHERE market_key = sipHash64({platform:String}, {ref:String}) AND interval_min = if({step:UInt32} < 3600, 1, 60)
      AND t >= toDateTime({start:UInt32}, 'UTC') AND t < toDateTime({end:UInt32}, 'UTC')
  ))
GROUP BY t
