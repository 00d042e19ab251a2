-- ingestion: years in which a list of large trades has duplicates, among the hours that received rows since {since}
WITH touched AS (
  SELECT DISTINCT toStartOfHour(executed_at) AS hour FROM trades WHERE platform = {platform:String} AND ingested_at >= {since:DateTime64(3)}
)
SELECT year
FROM (SELECT toYear(executed_at) AS year, count() AS held FROM {table:Identifier} WHERE toStartOfHour(executed_at) IN touched GROUP BY year) AS a
INNER JOIN (SELECT toYear(executed_at) AS year, count() AS trades FROM {table:Identifier} FINAL WHERE toStartOfHour(executed_at) IN touched GROUP BY year) AS b USING (year)
WHERE held != trades
