-- GET markets, GET markets/id/{id}: what changes rarely about the markets of one page
-- Kalshi dates its oldest markets to the year 1, which is unknown: they count as made when they were first seen.
SELECT market_key, platform, platform_id, title, market_type, outcome_ids, outcome_names,
  event_id, event_name, series_id, slug, description, category, subcategory, tags, source_url, image_url,
  ifNull(m.created_at, first_seen_at) AS created_at, trading_start_at, trading_end_at, resolution_date,
  resolution_criteria, resolution_source, metadata AS info_metadata
FROM market_info_rows AS m FINAL
PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
