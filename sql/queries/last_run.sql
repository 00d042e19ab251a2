-- ingestion: up to when a job's data was complete after its last good run
SELECT toUnixTimestamp64Milli(fresh_to) AS fresh_to_ms
FROM ingestion_runs WHERE platform = {platform:String} AND job = {job:String} AND ok
ORDER BY started_at DESC LIMIT 1
