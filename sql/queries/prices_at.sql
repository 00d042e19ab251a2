-- GET markets/prices: what was known of each market at {at}: its payout, the last trade of each series, and its last quote
-- Only two hours of trades are read per market: that of the instant, and the last one before it with a trade.
-- If trades were dropped by retention, the closes of their bars replace them: of an hour, and of the minutes in the instant's hour.
WITH
  {keys:Array(UInt64)} AS keys, toDateTime64({at:DateTime64(6, 'UTC')}, 6, 'UTC') AS instant, toStartOfHour(instant) AS this_hour,
  last_hours AS (
    SELECT market_key, series, max(t) AS hour, argMax(c, (t, c)) AS close FROM candles_1h
    WHERE market_key IN (SELECT arrayJoin(keys)) AND t < this_hour AND h >= 0 GROUP BY market_key, series
  ),
  hours AS (
    SELECT market_key, hour FROM last_hours UNION ALL SELECT arrayJoin(keys), this_hour
  ),
  -- How positions of closes encode their time (sql/schema/002_trades.sql): ids of one platform have the same form, and the market traded last has
  -- stored trades. A search by platform alone would read to the end if there are none.
  last_traded AS (SELECT market_key FROM volume_1h WHERE platform = {platform:String} ORDER BY hour DESC LIMIT 1),
  (SELECT any(id_form = 'tx') FROM (SELECT id_form FROM trades PREWHERE market_key IN (SELECT market_key FROM last_traded) LIMIT 1)) AS by_second,
  closes AS (
    SELECT market_key, series, hour, close FROM last_hours
    UNION ALL
    SELECT market_key, series, this_hour AS hour, max(c) AS close FROM candles_1m
    WHERE market_key IN (SELECT arrayJoin(keys)) AND t >= this_hour AND t <= instant AND h >= 0 GROUP BY market_key, series, t
  ),
  last_prices AS (
    SELECT market_key, series, argMax(series_price, (executed_at, trade_order)) AS price, max(executed_at) AS at, 1 AS is_trade
    FROM trades
    PREWHERE (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, hour FROM hours)
    WHERE executed_at <= instant AND NOT is_block
    GROUP BY market_key, series
    UNION ALL
    SELECT market_key, series, close.px AS price,
      fromUnixTimestamp64Micro(toUnixTimestamp(hour) * 1000000 + toInt64(if(by_second, bitShiftRight(close.place, 52) * 1000000, bitShiftRight(close.place, 32))), 'UTC') AS at, 0 AS is_trade
    FROM closes WHERE at <= instant
  ),
  last_trades AS (
    SELECT market_key, groupArray(series) AS series, groupArray(toString(last_price)) AS prices, max(last_at) AS traded_at
    FROM (
      SELECT market_key, series, argMax(price, (is_trade, at)) AS last_price, argMax(at, (is_trade, at)) AS last_at
      FROM last_prices GROUP BY market_key, series
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
