-- lists as Parquet and Arrow: the rows of one answer, as lines of JSON, in the columns that {structure} declares
SELECT * FROM format(JSONEachRow, {structure:String}, {rows:String})
SETTINGS max_threads = 1, output_format_parquet_compression_method = 'zstd', output_format_parquet_string_as_string = 1, output_format_arrow_string_as_string = 1
