-- ingestion, freshness: the stored spans of feeds; ref '' is the global feed
SELECT ref, toUnixTimestamp64Micro(complete_from) AS from_us, toUnixTimestamp64Micro(complete_to) AS to_us, marker,
  toUnixTimestamp64Micro(version) AS version_us
FROM trade_coverage FINAL
WHERE platform = {platform:String} AND market_key IN (arrayMap(ref -> if(ref = '', 0, sipHash64({platform:String}, ref)), {refs:Array(String)}))
