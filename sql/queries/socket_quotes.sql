-- ingestion: last stored price and volume of markets with quotes from a socket (two lists: platforms and references)
-- The stored price of a market that never traded is a midpoint of earlier quotes. Its volume follows its first trade only with a sweep.
WITH arrayMap((platform, ref) -> sipHash64(platform, ref), {platforms:Array(String)}, {refs:Array(String)}) AS keys
SELECT toString(platform) AS of_platform, transform(market_key, keys, {refs:Array(String)}, '') AS ref,
  if(volume_total = 0 AND market_key NOT IN (SELECT market_key FROM market_totals WHERE market_key IN (SELECT arrayJoin(keys))), NULL, prices[1]) AS price,
  volume_total
FROM market_state FINAL
PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
