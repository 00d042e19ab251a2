-- streams: a feed's events of one platform after a position, in order, including rows of epochs that ended before them. Read as RowBinary, so the order of columns matters. One thread and whole rows are faster for consecutive rows.
SELECT toFloat64(event_log.sequence) AS sequence, ref, event_id AS eventId, toFloat64(size) AS size, toFloat64(notional) AS notional, data,
  toFloat64(toUnixTimestamp64Milli(logged_at)) AS loggedMs
FROM event_log
WHERE feed = {feed:String} AND platform = {platform:String} AND event_log.sequence > {after:UInt64}
ORDER BY event_log.sequence
LIMIT {limit:UInt32}
SETTINGS query_plan_optimize_lazy_materialization = 0, max_threads = 1
