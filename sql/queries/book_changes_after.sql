-- GET markets/id/{id}/orderbook?at: the last change of each level after a snapshot, up to an instant
SELECT side, price, argMax(size, c.sequence) AS size, argMax(c.exchange_at, c.sequence) AS exchange_at, max(c.received_at) AS received_at
FROM book_changes AS c
WHERE platform = {platform:String} AND market_key = sipHash64({platform:String}, {ref:String}) AND c.sequence > {sequence:UInt64}
  AND c.received_at > fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC') AND c.received_at <= fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')
GROUP BY side, price ORDER BY received_at
