-- streams: events of one feed of a platform behind a position, in order; rows of an epoch that was ended before them among them
SELECT sequence, ref, event_id, toFloat64(size) AS size, toFloat64(notional) AS notional, data, toUnixTimestamp64Milli(logged_at) AS logged_ms
FROM event_log
WHERE feed = {feed:String} AND platform = {platform:String} AND sequence > {after:UInt64}
ORDER BY sequence
LIMIT {limit:UInt32}
