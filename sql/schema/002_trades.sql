-- Trades of every platform, one row a fill, seen from its taker: the source of truth that every roll-up can be rebuilt from.
-- No partition and small granules: a page of one market touches few parts. Columns marked EPHEMERAL exist only while inserting.
CREATE TABLE IF NOT EXISTS trades (
  platform LowCardinality(String) CODEC(ZSTD(1)),
  ref String EPHEMERAL '',
  -- The market: a hash of platform and its stable reference (Kalshi ticker, Polymarket condition id, Limitless slug).
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref) CODEC(ZSTD(1)),
  executed_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
  -- The first 64 bits of the trade id, in the order of its text: breaks ties of one instant.
  trade_order UInt64 CODEC(ZSTD(1)),
  -- How id_bytes spells the trade id: as it is, 16 bytes of a UUID, bytes of hex, or a suffix behind the transaction hash.
  id_form Enum8('text' = 0, 'uuid' = 1, 'hex' = 2, 'tx' = 3) CODEC(ZSTD(1)),
  id_text String EPHEMERAL '',
  id_bytes String DEFAULT if(id_form IN ('uuid', 'hex'), unhex(replaceAll(id_text, '-', '')), id_text) CODEC(ZSTD(1)),
  tx_text String EPHEMERAL '',
  tx_hash String DEFAULT unhex(substring(tx_text, 3)) CODEC(ZSTD(1)),
  outcome LowCardinality(String) CODEC(ZSTD(1)),
  outcome_index UInt8 CODEC(ZSTD(1)),
  -- The price series the trade belongs to: 0 for both outcomes of a two-sided market, else the outcome's own index.
  series UInt8 CODEC(ZSTD(1)),
  side Enum8('buy' = 1, 'sell' = 2) CODEC(ZSTD(1)),
  -- In terms of the outcome traded.
  price Decimal64(10) CODEC(Delta, ZSTD(1)),
  size Decimal64(6) CODEC(ZSTD(1)),
  quote_usd Nullable(Decimal64(6)) CODEC(ZSTD(1)),
  trader_text String EPHEMERAL '',
  trader String DEFAULT unhex(substring(trader_text, 3)) CODEC(ZSTD(1)),
  is_block Bool CODEC(ZSTD(1)),
  ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1)),
  trade_id String ALIAS multiIf(
    id_form = 'uuid', lower(concat(hex(substring(id_bytes, 1, 4)), '-', hex(substring(id_bytes, 5, 2)), '-', hex(substring(id_bytes, 7, 2)), '-', hex(substring(id_bytes, 9, 2)), '-', hex(substring(id_bytes, 11, 6)))),
    id_form = 'hex', lower(hex(id_bytes)),
    id_form = 'tx', concat('0x', lower(hex(tx_hash)), '-', id_bytes),
    id_bytes),
  transaction_hash String ALIAS if(tx_hash = '', '', concat('0x', lower(hex(tx_hash)))),
  -- price × size in USD, half-even to 6 decimals.
  notional Decimal64(6) ALIAS toDecimal64(roundBankers(toDecimal128(price, 10) * size, 6), 6),
  -- In terms of the first outcome (of its own, where a market has more than two).
  series_price Decimal64(10) ALIAS if(outcome_index = series, price, toDecimal64(1, 10) - price),
  -- Its place among the trades of its hour: the microsecond, then the first 32 bits of the trade order. Transactions are dated by
  -- the second, often several to one: there 52 bits of the order fit (a token's last bits and nothing else left out).
  place UInt64 ALIAS if(id_form = 'tx',
    bitOr(bitShiftLeft(toUInt64(intDiv(toUnixTimestamp64Micro(executed_at) % 3600000000, 1000000)), 52), bitOr(bitShiftLeft(bitShiftRight(trade_order, 25), 13), bitAnd(trade_order, 8191))),
    bitOr(bitShiftLeft(toUInt64(toUnixTimestamp64Micro(executed_at) % 3600000000), 32), bitShiftRight(trade_order, 32))),
  -- A window over all markets skips the parts, and of busy markets the granules, that are older.
  INDEX by_time executed_at TYPE minmax GRANULARITY 1,
  -- Trades of one wallet are found without reading those of all, by its bytes and, for filters on a view, by its text.
  INDEX trader_index trader TYPE bloom_filter(0.01) GRANULARITY 8,
  INDEX wallet_index if(empty(trader), '', concat('0x', lower(hex(trader)))) TYPE bloom_filter(0.01) GRANULARITY 8
) ENGINE = ReplacingMergeTree(ingested_at)
PRIMARY KEY (market_key, executed_at, trade_order)
ORDER BY (market_key, executed_at, trade_order, tx_hash, id_bytes)
SETTINGS index_granularity = 1024, min_compress_block_size = 16384, max_compress_block_size = 65536, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

-- Which reference a market key stands for, for markets that are traded before they are listed.
CREATE TABLE IF NOT EXISTS market_refs (
  platform LowCardinality(String),
  ref String CODEC(ZSTD(1)),
  market_key UInt64 DEFAULT sipHash64(toString(platform), ref)
) ENGINE = ReplacingMergeTree ORDER BY market_key
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000;

-- The people behind trades, as the platform last named them.
CREATE TABLE IF NOT EXISTS traders (
  platform LowCardinality(String),
  address String CODEC(ZSTD(1)),
  trader String DEFAULT unhex(substring(address, 3)) CODEC(ZSTD(1)),
  name String CODEC(ZSTD(1)),
  pseudonym String CODEC(ZSTD(1)),
  profile_image String CODEC(ZSTD(1)),
  seen_at DateTime64(3, 'UTC')
) ENGINE = ReplacingMergeTree(seen_at) ORDER BY (platform, trader)
SETTINGS index_granularity = 256, min_compress_block_size = 4096, max_compress_block_size = 16384;
