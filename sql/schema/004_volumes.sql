-- Volume by hour first, for windows over all markets.
CREATE TABLE IF NOT EXISTS volume_1h (
  hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
  platform LowCardinality(String) CODEC(ZSTD(1)),
  market_key UInt64 CODEC(ZSTD(1)),
  v SimpleAggregateFunction(sumWithOverflow, Decimal(18, 6)) CODEC(ZSTD(1)),
  q SimpleAggregateFunction(sumWithOverflow, Decimal(18, 6)) CODEC(ZSTD(1)),
  n SimpleAggregateFunction(sum, Int64) CODEC(T64, ZSTD(1))
) ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(hour) ORDER BY (hour, platform, market_key)
SETTINGS index_granularity = 2048, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS volume_1h_mv TO volume_1h AS
SELECT toStartOfHour(executed_at) AS hour, platform, market_key,
  sumWithOverflow(size) AS v, sumWithOverflow(notional) AS q, toInt64(count()) AS n
FROM trades GROUP BY hour, platform, market_key;

-- All stored trades of a market in one row. Traders are counted, where the platform names them, by a 64-bit hash: as exact as
-- the addresses for less than half their size.
CREATE TABLE IF NOT EXISTS market_totals (
  market_key UInt64,
  platform SimpleAggregateFunction(any, LowCardinality(String)),
  v SimpleAggregateFunction(sumWithOverflow, Decimal(18, 6)),
  q SimpleAggregateFunction(sumWithOverflow, Decimal(18, 6)),
  n SimpleAggregateFunction(sum, Int64),
  first_trade_at SimpleAggregateFunction(min, DateTime64(6, 'UTC')),
  last_trade_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
  traders AggregateFunction(uniqExactIf, UInt64, UInt8)
) ENGINE = AggregatingMergeTree ORDER BY market_key
-- A row holds the hashes of all its traders: a page of markets reads fifty rows, not fifty thousand.
SETTINGS index_granularity = 64, min_compress_block_size = 4096, max_compress_block_size = 65536, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS market_totals_mv TO market_totals AS
SELECT market_key, any(platform) AS platform, sumWithOverflow(size) AS v, sumWithOverflow(notional) AS q, toInt64(count()) AS n,
  min(executed_at) AS first_trade_at, max(executed_at) AS last_trade_at, uniqExactIfState(sipHash64(trader), trader != '') AS traders
FROM trades GROUP BY market_key;
