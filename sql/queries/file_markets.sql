-- files: every market of one platform that was read on a UTC day, as last read on it, by market
WITH toDateTime({day:String} || ' 00:00:00', 'UTC') AS day_start
SELECT m.platform_id AS market_id, m.title AS title, m.event_id AS event_id, m.series_id AS series_id, toString(m.category) AS category,
  m.outcome_names AS outcomes, toString(s.status) AS status, toFloat64(s.price) AS price, toFloat64(s.bid) AS bid, toFloat64(s.ask) AS ask, toFloat64(s.volume_24h) AS volume_24h,
  toFloat64(s.volume_total) AS volume_total, toFloat64(s.open_interest) AS open_interest, toFloat64(if(s.liquidity_known, toNullable(s.liquidity), NULL)) AS liquidity,
  toDateTime64(s.trading_end_at, 6, 'UTC') AS trading_end_at, toDateTime64(s.at, 6, 'UTC') AS read_at
FROM (
  SELECT market_key, status, price, bid, ask, volume_24h, volume_total, open_interest, liquidity, liquidity_known, trading_end_at, at
  FROM market_snapshots FINAL
  WHERE platform = {platform:String} AND at >= day_start AND at < day_start + INTERVAL 1 DAY
  ORDER BY market_key, at DESC LIMIT 1 BY market_key
) AS s
INNER JOIN (
  SELECT market_key, platform_id, title, event_id, series_id, category, outcome_names FROM markets FINAL WHERE platform = {platform:String}
) AS m ON m.market_key = s.market_key
ORDER BY market_id
SETTINGS max_threads = 1, max_block_size = 65536, max_bytes_before_external_sort = 134217728, output_format_parquet_compression_method = 'zstd', output_format_parquet_string_as_string = 1, output_format_parquet_row_group_size = 100000, output_format_parquet_write_bloom_filter = 0, output_format_arrow_string_as_string = 1
