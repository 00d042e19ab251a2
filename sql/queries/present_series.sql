-- present: series as they are copied to PostgreSQL
SELECT reinterpretAsInt64(bitXor(sipHash64({platform:String}, series_id), 9223372036854775808)) AS key, series_id AS id, title, category, category_slug, frequency
FROM series FINAL
WHERE platform = {platform:String} AND series_id IN {ids:Array(String)}
