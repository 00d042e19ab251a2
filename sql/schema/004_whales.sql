-- Large trades in time order, with a copy in size order: 100 contracts and up, so that the default of 1,000 and most lower floors
-- are answered here; below 100 the raw trades answer.
CREATE TABLE IF NOT EXISTS whales (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  market_key UInt64 CODEC(ZSTD(1)),
  executed_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  trade_order UInt64 CODEC(ZSTD(1)),
  id_form Enum8('text' = 0, 'uuid' = 1, 'hex' = 2, 'tx' = 3) CODEC(ZSTD(1)),
  id_bytes String CODEC(ZSTD(1)),
  tx_hash String CODEC(ZSTD(1)),
  outcome LowCardinality(String) CODEC(ZSTD(1)),
  side Enum8('buy' = 1, 'sell' = 2) CODEC(ZSTD(1)),
  price Decimal64(10) CODEC(ZSTD(1)),
  size Decimal64(6) CODEC(ZSTD(1)),
  notional Decimal64(6) CODEC(ZSTD(1)),
  trader String CODEC(ZSTD(1)),
  is_block Bool CODEC(ZSTD(1)),
  PROJECTION by_size (SELECT * ORDER BY size)
) ENGINE = MergeTree PARTITION BY toYear(executed_at) ORDER BY (executed_at, trade_order)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS whales_mv TO whales AS
SELECT platform, market_key, executed_at, trade_order, id_form, id_bytes, tx_hash, outcome, side, price, size, notional, trader, is_block
FROM trades WHERE size >= 100;
