-- ingestion: closed and settled markets with a stored trade since {since}
SELECT ref FROM markets FINAL
WHERE platform = {platform:String}
  AND market_key IN (
    SELECT market_key FROM market_totals WHERE platform = {platform:String} GROUP BY market_key HAVING max(last_trade_at) >= {since:DateTime64(6, 'UTC')}
  )
  AND market_key IN (SELECT market_key FROM market_state FINAL WHERE platform = {platform:String} AND status IN ('closed', 'settled'))
