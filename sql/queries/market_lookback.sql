-- ingestion: what the store knows of markets about to be written: first sight, the last listing's time, fields that a shorter body may lack,
-- and the totals and prices of 24 hours and 7 days ago (the newest snapshot not newer than that instant and at most 6 hours older)
WITH
  arrayMap(r -> sipHash64({platform:String}, r), {refs:Array(String)}) AS keys,
  {at:DateTime64(3, 'UTC')} - INTERVAL 1 DAY AS day_ago,
  {at:DateTime64(3, 'UTC')} - INTERVAL 7 DAY AS week_ago
SELECT transform(market_key, keys, {refs:Array(String)}, '') AS ref,
  m.first_seen_at AS first_seen_at, m.event_id AS event_id, m.event_name AS event_name, m.series_id AS series_id,
  m.category AS category, m.category_slug AS category_slug, m.subcategory AS subcategory, m.tags AS tags, m.image_url AS image_url,
  m.outcome_ids AS outcome_ids, m.metadata AS metadata, c.synced_at AS synced_at, c.resolved_at AS resolved_at, c.open_interest AS open_interest,
  toString(c.liquidity) AS liquidity, JSONExtractString(c.metadata, 'liquidity_basis') AS liquidity_basis,
  day_total, week_total, day_price, week_price
FROM (
  SELECT market_key, first_seen_at, event_id, event_name, series_id, category, category_slug, subcategory, tags, image_url, outcome_ids, metadata
  FROM markets FINAL PREWHERE platform = {platform:String} AND market_key IN (SELECT arrayJoin(keys))
) AS m
LEFT JOIN (
  SELECT market_key, synced_at, resolved_at, open_interest, liquidity, metadata FROM market_state FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT arrayJoin(keys))
) AS c USING (market_key)
LEFT JOIN (
  SELECT market_key,
    argMaxIf(volume_total, at, at <= day_ago AND at >= day_ago - INTERVAL 6 HOUR) AS day_total,
    argMaxIf(volume_total, at, at <= week_ago AND at >= week_ago - INTERVAL 6 HOUR) AS week_total,
    argMaxIf(price, at, at <= day_ago AND at >= day_ago - INTERVAL 6 HOUR) AS day_price,
    argMaxIf(price, at, at <= week_ago AND at >= week_ago - INTERVAL 6 HOUR) AS week_price
  FROM market_snapshots
  WHERE market_key IN (SELECT arrayJoin(keys)) AND ((at <= day_ago AND at >= day_ago - INTERVAL 6 HOUR) OR (at <= week_ago AND at >= week_ago - INTERVAL 6 HOUR))
  GROUP BY market_key
) AS s USING (market_key)
