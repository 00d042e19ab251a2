-- streams: the time of the store's own clock, by which rows are looked for
SELECT toUnixTimestamp64Milli(now64(3)) AS now_ms
