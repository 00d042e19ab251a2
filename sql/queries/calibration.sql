-- GET analytics/calibration: the markets settled last, by the price of their first outcome {horizon} seconds before they closed
-- The price is the last bar before the hour of that instant, a trade within that hour, or without trades the last quote. A bar counts
-- at its last microsecond, so that no price is later than the instant.
WITH
  settled AS (
    SELECT market_key, payout, if(ended_at <= synced_at, ended_at, NULL) AS closed_at,
      toDateTime64(ifNull(closed_at, toDateTime64(0, 3, 'UTC')), 6, 'UTC') - toIntervalSecond({horizon:UInt32}) AS instant, count() OVER () AS markets
    FROM (
      SELECT market_key, prices[1] AS payout, synced_at,
        least(coalesce(trading_end_at, resolved_at), coalesce(resolved_at, trading_end_at)) AS ended_at
      FROM market_state FINAL
      WHERE status = 'settled' AND NOT is_combo AND (empty({platforms:Array(String)}) OR platform IN {platforms:Array(String)})
        AND ({category:String} = '' OR category_slug = {category:String})
    )
    ORDER BY closed_at DESC NULLS LAST, market_key
    LIMIT {most:UInt32}
  ),
  known AS (
    SELECT market_key, toDateTime64(t, 6, 'UTC') + toIntervalMicrosecond(3599999999) AS at, c.place AS place, toNullable(c.px) AS price, true AS traded
    FROM candles_1h PREWHERE market_key IN (SELECT market_key FROM settled) WHERE series = 0 AND h >= 0
    UNION ALL
    SELECT market_key, executed_at, trade_order, toNullable(series_price), true
    FROM trades PREWHERE (market_key, toStartOfHour(executed_at)) IN (SELECT market_key, toDateTime(toStartOfHour(instant), 'UTC') FROM settled)
    WHERE series = 0 AND NOT is_block
    UNION ALL
    SELECT market_key, toDateTime64(s.at, 6, 'UTC'), 0, price, false
    FROM market_snapshots AS s PREWHERE market_key IN (SELECT market_key FROM settled) WHERE price IS NOT NULL AND status != 'settled'
  )
SELECT why, bin, count() AS n, countIf(payout = 1) AS came_true, any(markets) AS settled,
  toString(sum(toDecimal256(price, 10))) AS prices, toString(sum(error * error)) AS squares
FROM (
  SELECT s.market_key, any(s.payout) AS payout, any(s.markets) AS markets,
    argMaxIf(k.price, (k.traded, k.at, k.place), k.price IS NOT NULL AND k.at <= s.instant) AS price,
    multiIf(any(s.closed_at) IS NULL, 'unknown_close', payout IS NULL, 'unknown_payout', payout NOT IN (0, 1), 'fractional_payout', price IS NULL, 'no_price', '') AS why,
    if(why = '', least(toUInt8(intDiv(toInt64(toDecimal128(price, 10) * 10000000000) * {bins:UInt8}, 10000000000)), {bins:UInt8} - 1), 0) AS bin,
    toDecimal256(price, 10) - payout AS error
  FROM known AS k RIGHT JOIN settled AS s ON s.market_key = k.market_key
  GROUP BY s.market_key
)
GROUP BY why, bin
ORDER BY why, bin
