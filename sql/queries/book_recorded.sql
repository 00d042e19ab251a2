-- GET markets/id/{id}/orderbook?at: when a market's book is recorded, when it is next seen after an instant, and the gap around it
WITH fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC') AS instant, sipHash64({platform:String}, {ref:String}) AS wanted,
  -- A gap that has not ended: no book follows it, and its end is only when it was noticed.
  (SELECT max(received_at) FROM book_snapshots
    WHERE platform = {platform:String} AND market_key = wanted AND begins AND received_at <= instant) AS begun
SELECT min(seen) AS from_at, max(seen) AS to_at, minOrNull(if(seen > instant, toNullable(seen), NULL)) AS next_at, count() AS rows,
  (SELECT groupArray((from_at, until, reason)) FROM (
    SELECT from_at, greatest(max(to_at), instant) AS until, any(reason) AS reason FROM book_gaps
    WHERE platform = {platform:String} AND market_key = wanted AND from_at < instant GROUP BY from_at
    HAVING max(to_at) > instant OR max(to_at) > begun
    ORDER BY from_at DESC LIMIT 1
  )) AS gaps
FROM (
  SELECT received_at AS seen FROM book_snapshots WHERE platform = {platform:String} AND market_key = wanted
  UNION ALL
  SELECT received_at AS seen FROM book_changes WHERE platform = {platform:String} AND market_key = wanted
    AND sequence > (SELECT max(sequence) FROM book_snapshots WHERE platform = {platform:String} AND market_key = wanted)
)
