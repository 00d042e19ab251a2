-- present: events, and the series of these and of markets, as they are copied to PostgreSQL
WITH found AS (
  SELECT platform, event_key, event_id, series_id, slug, title, category, category_slug, tags, mutually_exclusive, image_url, source_url, market_ids
  FROM events FINAL
  PREWHERE platform IN {event_platforms:Array(String)}
    AND event_key IN (SELECT arrayJoin(arrayMap((platform, id) -> sipHash64(platform, id), {event_platforms:Array(String)}, {event_ids:Array(String)})))
)
SELECT 'event' AS kind, toString(platform) AS of_platform, reinterpretAsInt64(bitXor(event_key, 9223372036854775808)) AS key, event_id AS id, series_id, slug, title,
  category, category_slug, tags, mutually_exclusive, image_url, source_url, market_ids, NULL AS frequency
FROM found
UNION ALL
SELECT 'series', toString(platform), reinterpretAsInt64(bitXor(sipHash64(toString(platform), series_id), 9223372036854775808)), series_id, '', '', title,
  category, category_slug, [], NULL, '', '', [], frequency
FROM series FINAL
WHERE (platform, series_id) IN (
  SELECT platform, series_id FROM found WHERE series_id != ''
  UNION ALL
  SELECT one.1, one.2 FROM (SELECT arrayJoin(arrayZip({series_platforms:Array(String)}, {series_ids:Array(String)})) AS one)
)
