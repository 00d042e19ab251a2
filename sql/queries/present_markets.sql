-- present: markets as they are copied to PostgreSQL, by reference; a market without a state is not listed yet
WITH arrayMap(ref -> sipHash64({platform:String}, ref), {refs:Array(String)}) AS keys
SELECT reinterpretAsInt64(bitXor(market_key, 9223372036854775808)) AS key, m.*, s.*, unique_traders, traded_since
FROM (
  SELECT market_key, ref, platform_id, slug, title, market_type, outcome_ids, outcome_names, token_ids, event_id, event_name, series_id,
    description, category, subcategory, tags, source_url, image_url, ifNull(created_at, first_seen_at) AS created_at, trading_start_at,
    trading_end_at, resolution_date, resolution_criteria, resolution_source, metadata AS info_metadata, first_seen_at, version AS info_version
  FROM markets FINAL PREWHERE platform = {platform:String} AND market_key IN (SELECT arrayJoin(keys))
) AS m
INNER JOIN (
  SELECT market_key, status, prices, bids, asks, synced_at, volume_24h, volume_7d, volume_total, liquidity, open_interest, resolved_at,
    price_change_24h, price_change_7d, metadata AS state_metadata, written_at, category_slug, event_id AS listed_event, liquidity_known,
    trading_end_at AS listed_end, created_at AS listed_created, is_placeholder, is_combo
  FROM market_state FINAL PREWHERE platform = {platform:String} AND market_key IN (SELECT arrayJoin(keys))
) AS s USING (market_key)
LEFT JOIN (
  SELECT market_key, uniqExactIfMerge(traders) AS unique_traders, toDateTime64(min(first_trade_at), 3, 'UTC') AS traded_since
  FROM market_totals WHERE market_key IN (SELECT arrayJoin(keys)) GROUP BY market_key
) AS t USING (market_key)
