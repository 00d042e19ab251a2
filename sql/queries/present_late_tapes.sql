-- present: markets with trades stored since an instant, and the newest of these
SELECT market_key, toUnixTimestamp64Micro(max(executed_at)) AS last_us FROM trades
WHERE platform = {platform:String} AND ingested_at >= {since:DateTime64(3, 'UTC')} GROUP BY market_key
