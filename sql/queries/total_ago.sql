-- GET metrics/snapshot: what a market's platform reported as its total at {at}, by the newest snapshot of the six hours before
SELECT assumeNotNull(volume_total) AS total FROM market_snapshots
WHERE market_key = sipHash64({platform:String}, {ref:String})
  AND at <= {at:DateTime64(3, 'UTC')} AND at >= {at:DateTime64(3, 'UTC')} - toIntervalHour(6) AND isNotNull(volume_total)
ORDER BY at DESC
LIMIT 1
