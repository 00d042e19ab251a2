-- GET health: the last run of each job by platform, and the run of the last hour that skipped most rows
-- Runs from ahead of now were recorded by a clock that was wrong: they say nothing.
SELECT platform, job, argMax(ok, started_at) AS last_ok, toUnixTimestamp64Milli(maxIf(fresh_to, ok)) AS fresh_ms,
  argMax(note, started_at) AS last_note, argMaxIf((bad_rows, note), bad_rows, ok AND started_at >= now() - INTERVAL 1 HOUR) AS worst
FROM ingestion_runs
WHERE started_at >= now() - INTERVAL 1 DAY AND greatest(finished_at, fresh_to) <= now() + INTERVAL 1 MINUTE
GROUP BY platform, job
