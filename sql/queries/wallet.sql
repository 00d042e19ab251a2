-- GET wallets/{address}: its stored trades as taker, and since when the trades of its platforms are complete; null where each market has its
-- own feed
WITH unhex(substring({address:String}, 3)) AS wallet
SELECT platform, t.trades AS trades, toString(t.volume_usd) AS volume_usd, t.markets AS markets,
  toUnixTimestamp64Milli(t.first_at) AS first_ms, toUnixTimestamp64Milli(t.last_at) AS last_ms, n.names AS names,
  if(c.complete_to > 0, greatest(c.complete_from_ms, g.gap_to_ms), NULL) AS complete_from_ms
FROM (SELECT arrayJoin({platforms:Array(String)}) AS platform) AS p
LEFT JOIN (
  SELECT platform, count() AS trades, sum(usd) AS volume_usd, uniqExact(market_key) AS markets,
    toDateTime64(min(executed_at), 3, 'UTC') AS first_at, toDateTime64(max(executed_at), 3, 'UTC') AS last_at
  FROM (
    -- A row may be stored twice until its parts are merged.
    SELECT toString(platform) AS platform, market_key, executed_at, any(ifNull(quote_usd, notional)) AS usd
    FROM trades WHERE trader = wallet AND platform IN {platforms:Array(String)}
    GROUP BY platform, market_key, executed_at, trade_order, tx_hash, id_bytes
  )
  GROUP BY platform
) AS t USING (platform)
LEFT JOIN (
  SELECT toString(platform) AS platform, arrayFilter(name -> name != '', [any(name), any(pseudonym)]) AS names
  FROM traders FINAL WHERE trader = wallet GROUP BY platform
) AS n USING (platform)
LEFT JOIN (
  SELECT toString(platform) AS platform, toUnixTimestamp64Milli(toDateTime64(complete_from, 3, 'UTC')) AS complete_from_ms, toUnixTimestamp64Milli(toDateTime64(complete_to, 3, 'UTC')) AS complete_to
  FROM trade_coverage FINAL WHERE market_key = 0 AND marker != 'each market'
) AS c USING (platform)
LEFT JOIN (
  SELECT toString(platform) AS platform, toUnixTimestamp64Milli(toDateTime64(max(gap_to), 3, 'UTC')) AS gap_to_ms
  FROM trade_gaps FINAL WHERE filled = 0 GROUP BY platform
) AS g USING (platform)
