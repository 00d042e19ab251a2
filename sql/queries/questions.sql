-- ingestion: what these markets of a platform ask
SELECT market_key, category_slug, platform_id, title, market_type, outcome_ids, outcome_names, event_id, event_name, series_id, slug, description,
  category, subcategory, tags, source_url, image_url, ifNull(created_at, first_seen_at) AS created_at, trading_start_at, trading_end_at,
  resolution_date, resolution_criteria, resolution_source, metadata AS info_metadata
FROM markets FINAL PREWHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}
