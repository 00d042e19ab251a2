-- ingestion: events of the busiest open markets that have no image, busiest first
SELECT m.event_id AS event_id
FROM (
  SELECT market_key, volume_24h FROM market_state FINAL
  WHERE platform = {platform:String} AND status = 'open' AND event_id != '' AND NOT is_combo
  ORDER BY volume_24h DESC NULLS LAST, market_key LIMIT 2000
) AS s
INNER JOIN (SELECT market_key, event_id FROM markets FINAL WHERE platform = {platform:String} AND image_url = '') AS m USING (market_key)
GROUP BY event_id ORDER BY max(s.volume_24h) DESC NULLS LAST, event_id
