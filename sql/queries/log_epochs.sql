-- streams, ingestion: the epochs of one feed of a platform from one on: where each ends the one before, and when it was opened
SELECT epoch, max(previous_end) AS previous_end, uniqExact(opener) AS openers, toUnixTimestamp64Milli(min(opened_at)) AS opened_ms
FROM log_epochs
WHERE feed = {feed:String} AND platform = {platform:String} AND epoch >= {from:UInt32}
GROUP BY epoch ORDER BY epoch
