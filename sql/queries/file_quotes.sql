-- files: quotes of one platform on a UTC day, at every observed change and every few minutes, by market and time
WITH toDateTime({day:String} || ' 00:00:00', 'UTC') AS day_start
SELECT m.platform_id AS market_id, toDateTime64(s.at, 6, 'UTC') AS read_at, toString(s.status) AS status, toFloat64(s.price) AS price, toFloat64(s.bid) AS bid, toFloat64(s.ask) AS ask,
  toFloat64(s.volume_24h) AS volume_24h, toFloat64(s.volume_total) AS volume_total, toFloat64(s.open_interest) AS open_interest, toFloat64(if(s.liquidity_known, toNullable(s.liquidity), NULL)) AS liquidity
FROM (
  SELECT market_key, at, status, price, bid, ask, volume_24h, volume_total, open_interest, liquidity, liquidity_known
  FROM market_snapshots FINAL
  WHERE platform = {platform:String} AND at >= day_start AND at < day_start + INTERVAL 1 DAY
) AS s
INNER JOIN (SELECT market_key, platform_id FROM markets FINAL WHERE platform = {platform:String}) AS m ON m.market_key = s.market_key
ORDER BY market_id, read_at
SETTINGS max_threads = 1, max_block_size = 65536, max_bytes_before_external_sort = 134217728, output_format_parquet_compression_method = 'zstd', output_format_parquet_string_as_string = 1, output_format_parquet_row_group_size = 100000, output_format_parquet_write_bloom_filter = 0, output_format_arrow_string_as_string = 1
