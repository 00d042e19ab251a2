-- GET markets/id/{id}/orderbook?at: the newest whole book of a market that was seen in a period
SELECT sequence, begins, bid_prices, bid_sizes, ask_prices, ask_sizes, exchange_at, received_at, polled
FROM book_snapshots
WHERE platform = {platform:String} AND market_key = sipHash64({platform:String}, {ref:String})
  AND received_at > fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC') AND received_at <= fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')
ORDER BY book_snapshots.sequence DESC, received_at DESC LIMIT 1
