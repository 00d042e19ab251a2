-- Adds to whale_sizes the large trades that it lacks, for the market hours that received rows since {since}.
INSERT INTO whale_sizes
WITH touched AS (
  SELECT DISTINCT market_key, toStartOfHour(executed_at) AS hour FROM trades WHERE platform = {platform:String} AND ingested_at >= {since:DateTime64(3)}
)
SELECT size, executed_at, trade_order, sipHash64(platform, id_bytes, tx_hash) AS id_key, platform, notional
FROM trades FINAL
WHERE size >= 250 AND market_key IN (SELECT market_key FROM touched) AND (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, hour FROM touched)
  AND (size, executed_at, trade_order, id_key) NOT IN (
    SELECT size, executed_at, trade_order, id_key FROM whale_sizes
    WHERE executed_at >= (SELECT min(hour) FROM touched) AND platform = {platform:String}
  )
