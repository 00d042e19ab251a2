-- FINAL merges whole columns only: o and c are read whole, and their prices are taken afterwards.
CREATE OR REPLACE VIEW bars_1d AS
SELECT market_key, series, toStartOfDay(hour) AS t, argMinIf(toNullable(o.px), hour, h >= 0) AS open, if(max(h) >= 0, toNullable(max(h)), NULL) AS high,
  if(max(h) >= 0, toNullable(min(l)), NULL) AS low, argMaxIf(toNullable(c.px), hour, h >= 0) AS close, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, sum(n) AS trades
FROM (SELECT market_key, series, t AS hour, o, h, l, c, v, q, n FROM candles_1h FINAL WHERE n > 0) GROUP BY market_key, series, t
