-- Adds missing large trades to {table} (whales or whale_sizes), for hours of markets in [low, high] that received rows since {since}.
INSERT INTO {table:Identifier}
WITH touched AS (
  SELECT DISTINCT market_key, toStartOfHour(executed_at) AS hour FROM trades WHERE platform = {platform:String} AND market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND ingested_at >= {since:DateTime64(3)}
)
SELECT platform, market_key, executed_at, trade_order, id_form, id_bytes, tx_hash, outcome, side, price, size, notional, trader, is_block
FROM trades FINAL
WHERE size >= 250 AND market_key IN (SELECT market_key FROM touched) AND (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, hour FROM touched)
  AND (market_key, executed_at, trade_order, id_bytes, tx_hash) NOT IN (
    SELECT market_key, executed_at, trade_order, id_bytes, tx_hash FROM {table:Identifier}
    WHERE executed_at >= (SELECT min(hour) FROM touched) AND market_key IN (SELECT market_key FROM touched)
  )
