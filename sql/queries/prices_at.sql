-- GET markets/prices: what was known of each market at {at}: its payout, its last trade of each series, and its last quote
-- Of trades only two hours of a market are read: that of the instant, and the last one before it in which something traded.
WITH
  {keys:Array(UInt64)} AS keys, toDateTime64({at:DateTime64(6, 'UTC')}, 6, 'UTC') AS instant, toStartOfHour(instant) AS this_hour,
  last_hours AS (
    SELECT market_key, series, max(t) AS hour FROM candles_1h
    WHERE market_key IN (SELECT arrayJoin(keys)) AND t < this_hour AND h >= 0 GROUP BY market_key, series
  ),
  hours AS (
    SELECT market_key, hour FROM last_hours UNION ALL SELECT arrayJoin(keys), this_hour
  ),
  last_trades AS (
    SELECT market_key, groupArray(series) AS series, groupArray(toString(price)) AS prices, max(at) AS traded_at
    FROM (
      SELECT market_key, series, argMax(series_price, (executed_at, trade_order)) AS price, max(executed_at) AS at
      FROM trades
      PREWHERE (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, hour FROM hours)
      WHERE executed_at <= instant AND NOT is_block
      GROUP BY market_key, series
    )
    GROUP BY market_key
  ),
  quotes AS (
    SELECT market_key, argMaxIf(price, s.at, price IS NOT NULL AND status != 'settled') AS quoted,
      maxIf(s.at, price IS NOT NULL AND status != 'settled') AS quoted_at, minIf(s.at, status = 'settled') AS seen_settled_at
    FROM market_snapshots AS s
    WHERE market_key IN (SELECT arrayJoin(keys)) AND s.at <= instant
    GROUP BY market_key
  )
SELECT m.market_key AS market_key, m.status AS status, arrayMap(x -> toString(x), m.prices) AS payouts,
  coalesce(m.resolved_at, if(q.seen_settled_at > toDateTime64(0, 3, 'UTC'), q.seen_settled_at, NULL)) AS settled_at,
  ifNull(m.status = 'settled' AND settled_at <= instant, false) AS is_settled,
  t.series AS traded_series, t.prices AS traded, t.traded_at AS traded_at, toString(q.quoted) AS quoted, q.quoted_at AS quoted_at
FROM (
  SELECT market_key, status, prices, resolved_at FROM market_state FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT arrayJoin(keys))
) AS m
LEFT JOIN last_trades AS t USING (market_key)
LEFT JOIN quotes AS q USING (market_key)
