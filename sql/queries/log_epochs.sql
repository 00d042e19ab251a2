-- streams, ingestion: a feed's epochs from a given one on: where each ends the previous one, and when it was opened
SELECT epoch, max(previous_end) AS previous_end, uniqExact(opener) AS openers, toUnixTimestamp64Milli(min(opened_at)) AS opened_ms
FROM log_epochs
WHERE feed = {feed:String} AND platform = {platform:String} AND epoch >= {from:UInt32}
GROUP BY epoch ORDER BY epoch
