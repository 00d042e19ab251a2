-- present: events as they are copied to PostgreSQL
SELECT reinterpretAsInt64(bitXor(event_key, 9223372036854775808)) AS key, event_id AS id, series_id, slug, title, category, category_slug, tags,
  mutually_exclusive, image_url, source_url, market_ids
FROM events FINAL
PREWHERE platform = {platform:String} AND event_key IN (SELECT sipHash64({platform:String}, arrayJoin({ids:Array(String)})))
