-- The bars of v_candles: the views of sql/schema/views/bars_<interval>.sql. A query of a Merge table plans only the views whose names its
-- filter on _table allows; a query of a UNION ALL plans all of them, for 4 ms each.
CREATE TABLE IF NOT EXISTS bars (
  market_key UInt64, series UInt8, t DateTime('UTC'), open Nullable(Decimal64(10)), high Nullable(Decimal64(10)), low Nullable(Decimal64(10)),
  close Nullable(Decimal64(10)), volume Decimal64(6), notional Decimal64(6), trades Int64
) ENGINE = Merge(currentDatabase(), '^bars_(1m|5m|15m|1h|4h|1d)$');
