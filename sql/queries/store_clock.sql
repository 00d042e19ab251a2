-- streams: the time of the store's clock, which selects rows
SELECT toUnixTimestamp64Milli(now64(3)) AS now_ms
