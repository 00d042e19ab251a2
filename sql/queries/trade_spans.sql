-- histories, metrics: the stored trade spans of the platform's feed (of_market false) and of one market
SELECT toBool(market_key != 0) AS of_market, toUnixTimestamp64Micro(complete_from) AS from_us, toUnixTimestamp64Micro(complete_to) AS to_us, marker
FROM trade_coverage FINAL
PREWHERE platform = {platform:String} AND market_key IN (0, sipHash64({platform:String}, {ref:String}))
