-- GET search, GET wallets/{address}: markets by what wallets traded in them as takers, the most first
SELECT toString(platform) AS platform, market_key, count() AS trades, toString(sum(usd)) AS volume_usd,
  toUnixTimestamp64Milli(toDateTime64(max(executed_at), 3, 'UTC')) AS last_ms
FROM (
  -- A row may be stored twice until its parts are merged.
  SELECT platform, market_key, executed_at, any(ifNull(quote_usd, notional)) AS usd
  -- The same expression as in the index of wallets, so that the index is used.
  FROM trades WHERE if(empty(trader), '', concat('0x', lower(hex(trader)))) IN {addresses:Array(String)} AND platform IN {platforms:Array(String)}
  GROUP BY platform, market_key, executed_at, trade_order, tx_hash, id_bytes
)
GROUP BY platform, market_key
ORDER BY sum(usd) DESC, market_key
LIMIT {limit:UInt32}
