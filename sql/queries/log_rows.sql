-- streams: events of one feed of a platform behind a position, in order; rows of an epoch that was ended before them among them; read as RowBinary, by the order of its columns, and whole rows at once in one thread, which is faster for rows that follow each other
SELECT toFloat64(event_log.sequence) AS sequence, ref, event_id AS eventId, toFloat64(size) AS size, toFloat64(notional) AS notional, data,
  toFloat64(toUnixTimestamp64Milli(logged_at)) AS loggedMs
FROM event_log
WHERE feed = {feed:String} AND platform = {platform:String} AND event_log.sequence > {after:UInt64}
ORDER BY event_log.sequence
LIMIT {limit:UInt32}
SETTINGS query_plan_optimize_lazy_materialization = 0, max_threads = 1
