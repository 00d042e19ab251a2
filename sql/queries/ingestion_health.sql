-- GET health: the last run of each job by platform in some days, and the run of the last hour that skipped the most rows or fields
-- Runs recorded in the future come from a wrong clock and are ignored.
SELECT platform, job, argMax(ok, started_at) AS last_ok, toUnixTimestamp64Milli(maxIf(fresh_to, ok)) AS fresh_ms,
  toUnixTimestamp64Milli(argMax(finished_at, started_at)) AS finished_ms, argMax(note, started_at) AS last_note, argMax(bad_rows + bad_fields, started_at) AS last_left_out,
  argMaxIf((bad_rows, note), bad_rows, ok AND started_at >= now() - INTERVAL 1 HOUR) AS worst,
  argMaxIf((bad_fields, note), bad_fields, ok AND started_at >= now() - INTERVAL 1 HOUR) AS worst_fields
FROM ingestion_runs
WHERE started_at >= now() - INTERVAL {days:UInt16} DAY AND greatest(finished_at, fresh_to) <= now() + INTERVAL 1 MINUTE
GROUP BY platform, job
