-- files: changes of recorded order books of one platform and UTC day, one row per level, by market and time
WITH toDateTime({day:String} || ' 00:00:00', 'UTC') AS day_start
SELECT m.platform_id AS market_id, toDateTime64(b.received_at, 6, 'UTC') AS received_at, toDateTime64(b.exchange_at, 6, 'UTC') AS exchange_at,
  b.sequence AS sequence, toString(b.outcome) AS outcome, toString(b.side) AS side, toFloat64(b.price) AS price, toFloat64(b.size) AS size, b.polled AS polled
FROM (
  SELECT market_key, received_at, exchange_at, sequence, outcome, side, price, size, polled
  FROM book_changes FINAL
  WHERE platform = {platform:String} AND received_at >= day_start AND received_at < day_start + INTERVAL 1 DAY
) AS b
INNER JOIN (SELECT market_key, platform_id FROM markets FINAL WHERE platform = {platform:String}) AS m ON m.market_key = b.market_key
ORDER BY market_id, received_at, sequence, side, price
SETTINGS max_threads = 1, max_block_size = 65536, max_bytes_before_external_sort = 134217728, output_format_parquet_compression_method = 'zstd', output_format_parquet_string_as_string = 1, output_format_parquet_row_group_size = 100000, output_format_parquet_write_bloom_filter = 0, output_format_arrow_string_as_string = 1
