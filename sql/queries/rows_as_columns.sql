-- lists as Parquet and Arrow: the rows of one answer, from lines of JSON to the columns of {structure}
SELECT * FROM format(JSONEachRow, {structure:String}, {rows:String}) LIMIT {count:UInt64}
SETTINGS max_threads = 1, output_format_parquet_compression_method = 'zstd', output_format_parquet_string_as_string = 1, output_format_arrow_string_as_string = 1
