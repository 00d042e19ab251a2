-- meta.data_freshness of every endpoint over stored data: watermarks of listings and trades by platform, at most now
-- A listing is complete up to its last whole pass: the job 'changed' reads some markets only.
SELECT platform, max(listed) AS listed_ms, max(traded) AS traded_ms
FROM (
  SELECT platform, toUnixTimestamp64Milli(max(fresh_to)) AS listed, 0 AS traded
  FROM ingestion_runs WHERE job = 'markets' AND ok AND started_at >= now() - INTERVAL 30 DAY
    AND fresh_to <= now() + INTERVAL 1 MINUTE
  GROUP BY platform
  UNION ALL
  SELECT platform, 0, toUnixTimestamp64Milli(least(toDateTime64(complete_to, 3, 'UTC'), now64(3, 'UTC'))) FROM trade_coverage FINAL WHERE market_key = 0
)
GROUP BY platform
