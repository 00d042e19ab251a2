-- GET markets, GET markets/id/{id}: the whole record of the markets of one page
-- Kalshi dates its oldest markets to the year 1, which is unknown: they count as made when they were first seen.
SELECT m.market_key AS market_key, m.platform AS platform, m.ref AS ref, m.platform_id AS platform_id, m.title AS title, s.status AS status,
  m.market_type AS market_type, m.outcome_ids AS outcome_ids, m.outcome_names AS outcome_names,
  s.prices AS prices, s.bids AS bids, s.asks AS asks, s.synced_at AS last_synced_at,
  m.event_id AS event_id, m.event_name AS event_name, m.series_id AS series_id, m.slug AS slug, m.description AS description,
  m.category AS category, m.subcategory AS subcategory, m.tags AS tags,
  s.volume_24h AS volume_24h, s.volume_7d AS volume_7d, s.volume_total AS volume_total, s.liquidity AS liquidity, s.open_interest AS open_interest,
  if(t.traders_n > 0, t.traders_n, NULL) AS unique_traders, if(t.traders_n > 0, t.first_trade_at, NULL) AS unique_traders_since,
  m.source_url AS source_url, m.image_url AS image_url,
  ifNull(m.created_at, m.first_seen_at) AS created_at, m.trading_start_at AS trading_start_at,
  m.trading_end_at AS trading_end_at, m.resolution_date AS resolution_date, s.resolved_at AS resolved_at,
  m.resolution_criteria AS resolution_criteria, m.resolution_source AS resolution_source,
  s.price_change_24h AS price_change_24h, s.price_change_7d AS price_change_7d,
  s.volume_30d AS volume_30d, s.volume_1y AS volume_1y,
  m.metadata AS info_metadata, s.metadata AS state_metadata
FROM (SELECT * FROM markets FINAL WHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}) AS m
INNER JOIN (SELECT * FROM market_state FINAL WHERE platform = {platform:String} AND market_key IN {keys:Array(UInt64)}) AS s USING (market_key)
LEFT JOIN (
  SELECT market_key, uniqExactIfMerge(traders) AS traders_n, min(first_trade_at) AS first_trade_at
  FROM market_totals WHERE market_key IN {keys:Array(UInt64)} GROUP BY market_key
) AS t USING (market_key)
