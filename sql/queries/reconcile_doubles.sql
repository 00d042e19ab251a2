-- ingestion: notes markets in [low, high] with a trade stored twice, among the hours that received rows since {since}: the views merge those
INSERT INTO doubled_markets
WITH touched AS (
  SELECT DISTINCT market_key, toStartOfHour(executed_at) AS hour FROM trades WHERE platform = {platform:String} AND market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND ingested_at >= {since:DateTime64(3)}
)
SELECT DISTINCT market_key FROM (
  SELECT market_key FROM trades
  WHERE market_key IN (SELECT market_key FROM touched) AND (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, hour FROM touched)
  GROUP BY market_key, executed_at, trade_order, tx_hash, id_bytes HAVING count() > 1
)
SETTINGS optimize_aggregation_in_order = 1
