-- ingestion: the jobs of a platform whose last run failed, as GET health states them
SELECT job
FROM ingestion_runs
WHERE platform = {platform:String} AND started_at >= now() - INTERVAL 1 DAY AND greatest(finished_at, fresh_to) <= now() + INTERVAL 1 MINUTE
GROUP BY job
HAVING NOT argMax(ok, started_at)
