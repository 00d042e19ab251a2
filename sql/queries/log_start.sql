-- streams: the oldest stored event, and the first logged at or after an instant; 0 = none
WITH
  (SELECT (sequence, toUnixTimestamp64Milli(logged_at)) FROM event_log
   WHERE feed = {feed:String} AND platform = {platform:String} ORDER BY sequence LIMIT 1) AS oldest_row,
  (SELECT sequence FROM event_log
   WHERE feed = {feed:String} AND platform = {platform:String} AND logged_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
   ORDER BY sequence LIMIT 1) AS since_row
SELECT ifNull(oldest_row.1, 0) AS first, ifNull(oldest_row.2, 0) AS first_ms, ifNull(since_row, 0) AS since
