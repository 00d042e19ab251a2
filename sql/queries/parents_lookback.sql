-- ingestion: stored fields of events and series about to be written, for those missing from a shorter body
SELECT 'event' AS kind, event_id AS id, series_id, slug, title, category, category_slug, tags, mutually_exclusive, image_url, source_url, market_ids,
  NULL AS frequency, version
FROM events FINAL
PREWHERE platform = {platform:String} AND event_key IN (SELECT sipHash64({platform:String}, arrayJoin({event_ids:Array(String)})))
UNION ALL
SELECT 'series' AS kind, series_id AS id, '' AS series_id, '' AS slug, title, category, category_slug, [] AS tags, NULL AS mutually_exclusive,
  '' AS image_url, '' AS source_url, [] AS market_ids, frequency, version
FROM series FINAL
PREWHERE platform = {platform:String} AND series_id IN {series_ids:Array(String)}
