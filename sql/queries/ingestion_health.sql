-- GET health: the last run of each job by platform, and what it skipped in the last hour
SELECT platform, job, argMax(ok, started_at) AS last_ok, toUnixTimestamp64Milli(maxIf(fresh_to, ok)) AS fresh_ms,
  sumIf(rows, started_at >= now() - INTERVAL 1 HOUR) AS rows_read, sumIf(bad_rows, started_at >= now() - INTERVAL 1 HOUR) AS bad_rows,
  argMax(note, started_at) AS note
FROM ingestion_runs
WHERE started_at >= now() - INTERVAL 1 DAY
GROUP BY platform, job
