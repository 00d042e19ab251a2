-- GET markets/id/{id}/book-changes: number of messages in a period
WITH fromUnixTimestamp64Milli({start_ms:Int64}, 'UTC') AS first_at, fromUnixTimestamp64Milli({end_ms:Int64}, 'UTC') AS end_at,
  sipHash64({platform:String}, {ref:String}) AS wanted
SELECT uniqExact(sequence) AS messages FROM (
  SELECT sequence FROM book_changes
  WHERE platform = {platform:String} AND market_key = wanted AND received_at >= first_at AND received_at < end_at
  UNION ALL
  SELECT sequence FROM book_snapshots
  WHERE begins AND platform = {platform:String} AND market_key = wanted AND received_at >= first_at AND received_at < end_at
)
