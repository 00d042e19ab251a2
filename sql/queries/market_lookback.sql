-- ingestion: what the store knows of markets about to be written (three lists: platforms, references, and when each was read, Unix ms): first
-- sight, the last listing's time, fields that a shorter body may lack, and the totals and prices of 24 hours and 7 days before the reading
-- (the newest snapshot not newer than that instant and at most 6 hours older)
WITH
  arrayMap((platform, ref) -> sipHash64(platform, ref), {platforms:Array(String)}, {refs:Array(String)}) AS keys,
  key -> fromUnixTimestamp64Milli(transform(key, keys, {at_ms:Array(Int64)}, toInt64(0)), 'UTC') AS read_at,
  fromUnixTimestamp64Milli(arrayMin({at_ms:Array(Int64)}), 'UTC') AS first_at,
  fromUnixTimestamp64Milli(arrayMax({at_ms:Array(Int64)}), 'UTC') AS last_at
SELECT toString(platform) AS of_platform, transform(market_key, keys, {refs:Array(String)}, '') AS ref,
  m.first_seen_at AS first_seen_at, m.title AS title, m.event_id AS event_id, m.event_name AS event_name, m.series_id AS series_id,
  m.category AS category, m.category_slug AS category_slug, m.subcategory AS subcategory, m.tags AS tags, m.image_url AS image_url,
  m.outcome_ids AS outcome_ids, m.metadata AS metadata, c.synced_at AS synced_at, c.resolved_at AS resolved_at, c.open_interest AS open_interest,
  multiIf(JSONExtractString(c.metadata, 'liquidity_basis') = 'best_level', toNullable(c.liquidity), c.best_level) AS best_level,
  day_total, week_total, day_price, week_price
FROM (
  SELECT platform, market_key, first_seen_at, title, event_id, event_name, series_id, category, category_slug, subcategory, tags, image_url, outcome_ids, metadata
  FROM markets FINAL PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
) AS m
LEFT JOIN (
  SELECT market_key, synced_at, resolved_at, open_interest, liquidity, best_level, metadata FROM market_state FINAL
  PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
) AS c USING (market_key)
LEFT JOIN (
  SELECT market_key,
    argMaxIf(volume_total, at, at <= day_ago AND at >= day_ago - INTERVAL 6 HOUR) AS day_total,
    argMaxIf(volume_total, at, at <= week_ago AND at >= week_ago - INTERVAL 6 HOUR) AS week_total,
    argMaxIf(price, at, at <= day_ago AND at >= day_ago - INTERVAL 6 HOUR) AS day_price,
    argMaxIf(price, at, at <= week_ago AND at >= week_ago - INTERVAL 6 HOUR) AS week_price
  FROM (
    SELECT market_key, at, volume_total, price, read_at(market_key) - INTERVAL 1 DAY AS day_ago, read_at(market_key) - INTERVAL 7 DAY AS week_ago
    FROM market_snapshots
    WHERE market_key IN (SELECT arrayJoin(keys))
      AND ((at <= last_at - INTERVAL 1 DAY AND at >= first_at - INTERVAL 30 HOUR) OR (at <= last_at - INTERVAL 7 DAY AND at >= first_at - INTERVAL 174 HOUR))
  )
  GROUP BY market_key
) AS s USING (market_key)
