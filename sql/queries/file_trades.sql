-- files: the trades of one platform and UTC day, one row per fill, by market and time
WITH
  toDateTime({day:String} || ' 00:00:00', 'UTC') AS day_start,
  traded AS (SELECT DISTINCT market_key FROM volume_1h WHERE platform = {platform:String} AND hour >= day_start AND hour < day_start + INTERVAL 1 DAY),
  names AS (SELECT market_key, argMax(platform_id, version) AS platform_id FROM markets WHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM traded) GROUP BY market_key),
  refs AS (SELECT market_key, any(ref) AS ref FROM market_refs WHERE market_key IN (SELECT market_key FROM traded) GROUP BY market_key)
SELECT if(m.platform_id = '', r.ref, m.platform_id) AS market_id, t.trade_id AS trade_id, t.executed_at AS executed_at, toString(t.side) AS side,
  toString(t.outcome) AS outcome, t.outcome_index AS outcome_index, toFloat64(t.price) AS price, toFloat64(t.size) AS size, toFloat64(t.notional) AS notional,
  if(t.trader = '', '', concat('0x', lower(hex(t.trader)))) AS trader, t.is_block AS is_block, t.transaction_hash AS transaction_hash
FROM (
  SELECT market_key, trade_id, executed_at, side, outcome, outcome_index, price, size, notional, trader, is_block, transaction_hash
  FROM trades FINAL
  PREWHERE market_key IN (SELECT market_key FROM traded) AND executed_at >= day_start AND executed_at < day_start + INTERVAL 1 DAY
) AS t
LEFT JOIN names AS m ON m.market_key = t.market_key
LEFT JOIN refs AS r ON r.market_key = t.market_key
ORDER BY market_id, executed_at, trade_id
SETTINGS max_threads = 1, max_block_size = 65536, max_bytes_before_external_sort = 134217728, output_format_parquet_compression_method = 'zstd', output_format_parquet_string_as_string = 1, output_format_parquet_row_group_size = 100000, output_format_parquet_write_bloom_filter = 0, output_format_arrow_string_as_string = 1
