-- GET markets/price-history, GET metrics/historical: buckets of each market's quotes from our sweeps, unordered; each pair is [bid, ask]
-- Bid and ask are of the same moment, so they are one tuple: argMin and argMax of each would skip moments with that side empty.
SELECT market_key AS key, intDiv(toUnixTimestamp(at), {step:UInt32}) * {step:UInt32} AS t,
  argMinIf((q.bid, q.ask), at, isNotNull(q.bid) OR isNotNull(q.ask)) AS first, (max(q.bid), max(q.ask)) AS high, (min(q.bid), min(q.ask)) AS low,
  argMaxIf((q.bid, q.ask), at, isNotNull(q.bid) OR isNotNull(q.ask)) AS last, argMax(q.open_interest, at) AS open_interest
FROM market_snapshots AS q
WHERE market_key IN {keys:Array(UInt64)}
  AND at >= toDateTime64({start:UInt32}, 3, 'UTC') AND at < toDateTime64({end:UInt32}, 3, 'UTC')
GROUP BY market_key, t
