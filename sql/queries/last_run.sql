-- ingestion: up to when a job's data was complete after its last successful run, ignoring runs recorded by a clock that was ahead
SELECT toUnixTimestamp64Milli(fresh_to) AS fresh_to_ms
FROM ingestion_runs WHERE platform = {platform:String} AND job = {job:String} AND ok
  AND greatest(started_at, fresh_to) <= now() + INTERVAL 1 MINUTE
ORDER BY started_at DESC LIMIT 1
