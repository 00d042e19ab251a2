-- ingestion: number and period of a platform's stored trades
SELECT count() AS rows, toUnixTimestamp64Micro(min(executed_at)) AS oldest_us, toUnixTimestamp64Micro(max(executed_at)) AS newest_us
FROM trades WHERE platform = {platform:String}
