-- ingestion: spans that a global feed could not deliver and that are still missing
SELECT toUnixTimestamp64Micro(gap_from) AS from_us, toUnixTimestamp64Micro(gap_to) AS to_us
FROM trade_gaps FINAL WHERE platform = {platform:String} AND filled = 0
ORDER BY gap_from
