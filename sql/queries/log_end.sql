-- streams, ingestion: the last position of one epoch of a feed; no row if it has none
SELECT sequence
FROM event_log
WHERE feed = {feed:String} AND platform = {platform:String} AND sequence >= {from:UInt64} AND sequence < {to:UInt64}
ORDER BY sequence DESC
LIMIT 1
