-- Large trades in the order of time and in that of size: 250 contracts and up, so that the default of 1,000 and most other floors
-- are answered here; below it the raw trades answer. A row stored twice is one row after a merge.
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
  trade_id String ALIAS multiIf(
    id_form = 'uuid', lower(concat(hex(substring(id_bytes, 1, 4)), '-', hex(substring(id_bytes, 5, 2)), '-', hex(substring(id_bytes, 7, 2)), '-', hex(substring(id_bytes, 9, 2)), '-', hex(substring(id_bytes, 11, 6)))),
    id_form = 'hex', lower(hex(id_bytes)),
    id_form = 'tx', concat('0x', lower(hex(tx_hash)), '-', id_bytes),
    id_bytes),
  transaction_hash String ALIAS if(tx_hash = '', '', concat('0x', lower(hex(tx_hash))))
) ENGINE = ReplacingMergeTree PARTITION BY toYear(executed_at)
PRIMARY KEY (executed_at, trade_order)
ORDER BY (executed_at, trade_order, tx_hash, id_bytes, market_key)
-- A page is a few rows at the end: small granules, small blocks.
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS whales_mv TO whales AS
SELECT platform, market_key, executed_at, trade_order, id_form, id_bytes, tx_hash, outcome, side, price, size, notional, trader, is_block
FROM trades WHERE size >= 250;

-- The same rows in the order of sizes: found in the other order, they would have to be read one here and one there.
CREATE TABLE IF NOT EXISTS whale_sizes AS whales
ENGINE = ReplacingMergeTree PARTITION BY toYear(executed_at)
PRIMARY KEY (size, executed_at, trade_order)
ORDER BY (size, executed_at, trade_order, tx_hash, id_bytes, market_key)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS whale_sizes_mv TO whale_sizes AS
SELECT platform, market_key, executed_at, trade_order, id_form, id_bytes, tx_hash, outcome, side, price, size, notional, trader, is_block
FROM trades WHERE size >= 250;
