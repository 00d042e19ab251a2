-- Bars of 1 minute and 1 hour from trades, in terms of the first outcome; other intervals are computed from these two.
-- o and c are the extremes of (place, price), so open and close need no state and merge in any order; a place is half the size of
-- time and trade order in full, and compares within an hour.
-- n is signed and sums accept negative rows, so that a correction is an insert.
-- Block trades count for volume and notional, not for price: they carry sentinels that lose every comparison, and h = -1 means
-- that a bar has nothing else.
CREATE TABLE IF NOT EXISTS candles_1m (
  market_key UInt64 CODEC(ZSTD(1)),
  series UInt8 CODEC(ZSTD(1)),
  t DateTime('UTC') CODEC(Delta, ZSTD(1)),
  o SimpleAggregateFunction(min, Tuple(place UInt64, px Decimal64(10))) CODEC(ZSTD(1)),
  h SimpleAggregateFunction(max, Decimal64(10)) CODEC(ZSTD(1)),
  l SimpleAggregateFunction(min, Decimal64(10)) CODEC(ZSTD(1)),
  c SimpleAggregateFunction(max, Tuple(place UInt64, px Decimal64(10))) CODEC(ZSTD(1)),
  v SimpleAggregateFunction(sumWithOverflow, Decimal(18, 6)) CODEC(ZSTD(1)),
  q SimpleAggregateFunction(sumWithOverflow, Decimal(18, 6)) CODEC(ZSTD(1)),
  n SimpleAggregateFunction(sum, Int64) CODEC(T64, ZSTD(1))
) ENGINE = AggregatingMergeTree ORDER BY (market_key, series, t)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

CREATE TABLE IF NOT EXISTS candles_1h AS candles_1m
ENGINE = AggregatingMergeTree ORDER BY (market_key, series, t)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS candles_1m_mv TO candles_1m AS
SELECT market_key, series, toStartOfMinute(executed_at) AS t,
  min(if(is_block, (toUInt64(18446744073709551615), toDecimal64(0, 10)), (place, series_price))) AS o,
  max(if(is_block, toDecimal64(-1, 10), series_price)) AS h,
  min(if(is_block, toDecimal64(9, 10), series_price)) AS l,
  max(if(is_block, (toUInt64(0), toDecimal64(-1, 10)), (place, series_price))) AS c,
  sumWithOverflow(size) AS v, sumWithOverflow(notional) AS q, toInt64(count()) AS n
FROM trades GROUP BY market_key, series, t;

CREATE MATERIALIZED VIEW IF NOT EXISTS candles_1h_mv TO candles_1h AS
SELECT market_key, series, toStartOfHour(executed_at) AS t,
  min(if(is_block, (toUInt64(18446744073709551615), toDecimal64(0, 10)), (place, series_price))) AS o,
  max(if(is_block, toDecimal64(-1, 10), series_price)) AS h,
  min(if(is_block, toDecimal64(9, 10), series_price)) AS l,
  max(if(is_block, (toUInt64(0), toDecimal64(-1, 10)), (place, series_price))) AS c,
  sumWithOverflow(size) AS v, sumWithOverflow(notional) AS q, toInt64(count()) AS n
FROM trades GROUP BY market_key, series, t;

-- Bars as the platforms publish them: they bring bid, ask and open interest. A later read of a bar replaces the earlier one.
CREATE TABLE IF NOT EXISTS platform_candles (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref) CODEC(ZSTD(1)),
  interval_min UInt16 CODEC(ZSTD(1)),
  t DateTime('UTC') CODEC(Delta, ZSTD(1)),
  open Nullable(Decimal64(10)) CODEC(ZSTD(1)), high Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  low Nullable(Decimal64(10)) CODEC(ZSTD(1)), close Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  previous_close Nullable(Decimal64(10)) CODEC(ZSTD(1)), mean Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  bid_open Nullable(Decimal64(10)) CODEC(ZSTD(1)), bid_high Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  bid_low Nullable(Decimal64(10)) CODEC(ZSTD(1)), bid_close Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  ask_open Nullable(Decimal64(10)) CODEC(ZSTD(1)), ask_high Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  ask_low Nullable(Decimal64(10)) CODEC(ZSTD(1)), ask_close Nullable(Decimal64(10)) CODEC(ZSTD(1)),
  volume Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  open_interest Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  source Enum8('trades' = 1, 'midpoint' = 2) CODEC(ZSTD(1)),
  version DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
) ENGINE = ReplacingMergeTree(version) ORDER BY (market_key, interval_min, t)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;
