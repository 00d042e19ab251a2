-- ingestion, freshness: the stored span of a feed; ref '' is the global feed
SELECT ref, toUnixTimestamp64Micro(complete_from) AS from_us, toUnixTimestamp64Micro(complete_to) AS to_us, marker,
  toUnixTimestamp64Micro(version) AS version_us
FROM trade_coverage FINAL
WHERE platform = {platform:String} AND market_key = if({ref:String} = '', 0, sipHash64({platform:String}, {ref:String}))
