-- ingestion: last stored price and volume of markets with quotes from a socket (two lists: platforms and references)
WITH arrayMap((platform, ref) -> sipHash64(platform, ref), {platforms:Array(String)}, {refs:Array(String)}) AS keys
SELECT toString(platform) AS of_platform, transform(market_key, keys, {refs:Array(String)}, '') AS ref, prices[1] AS price, volume_total
FROM market_state FINAL
PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
