-- GET metrics/snapshot: stored volumes of one market as of {at}. Windows are (at − W, at], exact to the microsecond: whole hours from
-- candles_1h, and the first hour of each window from the trades. Trades of a year ago may have been dropped for their age: of that hour only
-- the minute in which the window begins is read from them.
WITH
  sipHash64({platform:String}, {ref:String}) AS key,
  toDateTime64({at:DateTime64(3, 'UTC')}, 6, 'UTC') AS now_at,
  now_at - toIntervalDay(1) AS day, now_at - toIntervalDay(7) AS week, now_at - toIntervalDay(30) AS month, now_at - toIntervalDay(365) AS year,
  [toStartOfHour(day), toStartOfHour(week), toStartOfHour(month), toStartOfHour(year)] AS edges
SELECT
  toDecimal64(sumIf(v, at > day), 6) AS size_24h, toDecimal64(sumIf(v, at > week), 6) AS size_7d,
  toDecimal64(sumIf(v, at > month), 6) AS size_30d, toDecimal64(sumIf(v, at > year), 6) AS size_1y,
  toDecimal64(sumIf(q, at > day), 6) AS notional_24h, toDecimal64(sumIf(q, at > week), 6) AS notional_7d,
  toDecimal64(sumIf(q, at > month), 6) AS notional_30d, toDecimal64(sumIf(q, at > year), 6) AS notional_1y,
  (SELECT (toDecimal64(sumWithOverflow(q), 6), uniqExactIfMerge(traders)) FROM market_totals WHERE market_key = key) AS life,
  life.1 AS notional_total, life.2 AS traders
FROM (
  SELECT toDateTime64(t, 6, 'UTC') AS at, v, q FROM candles_1h
  WHERE market_key = key AND t >= toStartOfHour(year) AND NOT has(edges, t)
  UNION ALL
  SELECT toDateTime64(t, 6, 'UTC'), v, q FROM candles_1m
  WHERE market_key = key AND t > toStartOfMinute(year) AND t < toStartOfHour(year) + toIntervalHour(1)
  UNION ALL
  SELECT executed_at, size, notional FROM (
    SELECT executed_at, size, notional FROM trades
    WHERE market_key = key AND executed_at >= toStartOfHour(year) AND executed_at < toStartOfHour(day) + toIntervalHour(1) AND has(edges, toStartOfHour(executed_at))
      AND (executed_at < toStartOfMinute(year) + toIntervalMinute(1) OR executed_at >= toStartOfHour(year) + toIntervalHour(1))
    LIMIT 1 BY executed_at, trade_order, tx_hash, id_bytes
  )
)
