-- files: bars of {table} of one platform and UTC day, by market and time; prices are null if a bar has only block trades
WITH
  toDateTime({day:String} || ' 00:00:00', 'UTC') AS day_start,
  traded AS (SELECT DISTINCT market_key FROM volume_1h WHERE platform = {platform:String} AND hour >= day_start AND hour < day_start + INTERVAL 1 DAY),
  names AS (SELECT market_key, argMax(platform_id, version) AS platform_id FROM markets WHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM traded) GROUP BY market_key),
  refs AS (SELECT market_key, any(ref) AS ref FROM market_refs WHERE market_key IN (SELECT market_key FROM traded) GROUP BY market_key)
SELECT if(m.platform_id = '', r.ref, m.platform_id) AS market_id, c.series AS series, toDateTime64(c.t, 6, 'UTC') AS start_at,
  if(c.h >= 0, toNullable(toFloat64(c.o.px)), NULL) AS open, if(c.h >= 0, toNullable(toFloat64(c.h)), NULL) AS high, if(c.h >= 0, toNullable(toFloat64(c.l)), NULL) AS low,
  if(c.h >= 0, toNullable(toFloat64(c.c.px)), NULL) AS close, toFloat64(c.v) AS volume, toFloat64(c.q) AS notional, c.n AS trades
FROM (
  SELECT market_key, series, t, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM {table:Identifier}
  WHERE market_key IN (SELECT market_key FROM traded) AND t >= day_start AND t < day_start + INTERVAL 1 DAY
  GROUP BY market_key, series, t HAVING n > 0
) AS c
LEFT JOIN names AS m ON m.market_key = c.market_key
LEFT JOIN refs AS r ON r.market_key = c.market_key
ORDER BY market_id, start_at, series
SETTINGS max_threads = 1, max_block_size = 65536, max_bytes_before_external_sort = 134217728, output_format_parquet_compression_method = 'zstd', output_format_parquet_string_as_string = 1, output_format_parquet_row_group_size = 100000, output_format_parquet_write_bloom_filter = 0, output_format_arrow_string_as_string = 1
