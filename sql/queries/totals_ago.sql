-- GET metrics/snapshot: what a market's platform reported as its total a month and a year before {at}, by our snapshots
WITH toDateTime64({at:DateTime64(3, 'UTC')}, 3, 'UTC') AS now_at, now_at - toIntervalDay(30) AS month, now_at - toIntervalDay(365) AS year
SELECT argMaxOrNullIf(volume_total, at, at >= month - toIntervalHour(6)) AS total_30d_ago, argMaxOrNullIf(volume_total, at, at < month - toIntervalHour(6)) AS total_1y_ago
FROM market_snapshots
WHERE market_key = sipHash64({platform:String}, {ref:String})
  AND ((at <= month AND at >= month - toIntervalHour(6)) OR (at <= year AND at >= year - toIntervalHour(6)))
