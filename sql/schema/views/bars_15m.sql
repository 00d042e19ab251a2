-- FINAL merges whole columns only: o and c are read whole, and their prices are taken afterwards.
CREATE OR REPLACE VIEW bars_15m AS
SELECT market_key, series, toStartOfFifteenMinutes(minute) AS t, argMinIf(toNullable(o.px), minute, h >= 0) AS open, if(max(h) >= 0, toNullable(max(h)), NULL) AS high,
  if(max(h) >= 0, toNullable(min(l)), NULL) AS low, argMaxIf(toNullable(c.px), minute, h >= 0) AS close, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, sum(n) AS trades
FROM (SELECT market_key, series, t AS minute, o, h, l, c, v, q, n FROM candles_1m FINAL WHERE n > 0) GROUP BY market_key, series, t
