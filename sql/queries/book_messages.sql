-- GET markets/id/{id}/book-changes: messages of a market's recorded book after a sequence: changes, and the whole books that begin a period
WITH fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC') AS first_at, fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC') AS end_at,
  sipHash64({platform:String}, {ref:String}) AS wanted
SELECT sequence, is_snapshot, exchange_at, received_at, polled, levels FROM (
  SELECT c.sequence AS sequence, false AS is_snapshot, any(c.exchange_at) AS exchange_at, any(c.received_at) AS received_at, any(c.polled) AS polled,
    arraySort(groupUniqArray((toString(side), toString(price), toString(size)))) AS levels
  FROM book_changes AS c
  WHERE platform = {platform:String} AND market_key = wanted AND c.sequence > {after:UInt64} AND c.received_at >= first_at AND c.received_at < end_at
  GROUP BY c.sequence ORDER BY c.sequence LIMIT {limit:UInt32}
  UNION ALL
  SELECT b.sequence AS sequence, true AS is_snapshot, any(b.exchange_at) AS exchange_at, any(b.received_at) AS received_at, any(b.polled) AS polled,
    any(arrayConcat(arrayMap((p, s) -> ('bid', toString(p), toString(s)), bid_prices, bid_sizes),
      arrayMap((p, s) -> ('ask', toString(p), toString(s)), ask_prices, ask_sizes))) AS levels
  FROM book_snapshots AS b
  WHERE begins AND platform = {platform:String} AND market_key = wanted AND b.sequence > {after:UInt64} AND b.received_at >= first_at
    AND b.received_at < end_at
  GROUP BY b.sequence ORDER BY b.sequence LIMIT {limit:UInt32}
)
ORDER BY sequence LIMIT {limit:UInt32}
