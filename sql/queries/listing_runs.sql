-- ingestion: whether a listing of a platform's markets has ended in any process, also by a failure, and whether one was complete
SELECT count() > 0 AS is_over, countIf(ok) > 0 AS is_stored
FROM ingestion_runs WHERE platform = {platform:String} AND job = 'markets' AND started_at <= now() + INTERVAL 1 MINUTE
