-- GET markets, GET markets/id/{id}: what moves with trading of the markets of one page
SELECT market_key, status, prices, bids, asks, synced_at AS last_synced_at,
  volume_24h, volume_7d, volume_total, liquidity, open_interest, resolved_at,
  price_change_24h, price_change_7d, metadata AS state_metadata
FROM market_state FINAL
PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
