-- FINAL merges whole columns only: o and c are read whole, and their prices are taken afterwards.
CREATE OR REPLACE VIEW bars_1h AS
SELECT market_key, series, t, if(h >= 0, toNullable(o.px), NULL) AS open, if(h >= 0, toNullable(h), NULL) AS high,
  if(h >= 0, toNullable(l), NULL) AS low, if(h >= 0, toNullable(c.px), NULL) AS close, v AS volume, q AS notional, n AS trades
FROM (SELECT market_key, series, t, o, h, l, c, v, q, n FROM candles_1h FINAL WHERE n > 0)
