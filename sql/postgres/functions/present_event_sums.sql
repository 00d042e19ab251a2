-- Sums over the markets of an event as they are now: those that lists show, or all of them where lists show none. The platform's own sums
-- are unknown where one is; those in USD are sums of the known ones, whose number stands beside them.
CREATE OR REPLACE FUNCTION present_event_sums(of_platform text, of_event text) RETURNS TABLE (
  hidden smallint, markets bigint, open_markets bigint, status text, by_volume_24h bigint, by_volume_total bigint, by_liquidity bigint,
  liquidity_known boolean, by_end_date bigint, by_created bigint, by_volume_24h_usd bigint, by_volume_7d_usd bigint, by_volume_total_usd bigint,
  by_liquidity_usd bigint, known_24h bigint, known_7d bigint, known_total bigint, known_liquidity bigint
) LANGUAGE sql STABLE AS $$
  SELECT m.hidden, count(*), count(*) FILTER (WHERE m.status = 'open'),
    (ARRAY['open', 'paused', 'unopened', 'closed', 'settled'])[min(array_position(ARRAY['open', 'paused', 'unopened', 'closed', 'settled'], m.status))],
    CASE WHEN bool_or(day > 0) THEN 1000000 ELSE sum(day) END::bigint,
    CASE WHEN bool_or(m.by_volume_total > 0) THEN 1000000 ELSE sum(m.by_volume_total) END::bigint,
    coalesce(sum(m.by_liquidity) FILTER (WHERE m.liquidity_known), 1000000)::bigint, bool_and(m.liquidity_known),
    max(m.by_end_date), coalesce(max(m.by_created) FILTER (WHERE m.by_created <> 0), 0),
    coalesce(sum(day_usd) FILTER (WHERE day_usd <= 0), 1000000)::bigint, coalesce(sum(week_usd) FILTER (WHERE week_usd <= 0), 1000000)::bigint,
    coalesce(sum(m.by_volume_total_usd) FILTER (WHERE m.by_volume_total_usd <= 0), 1000000)::bigint,
    coalesce(sum(m.by_liquidity_usd) FILTER (WHERE m.by_liquidity_usd <= 0), 1000000)::bigint,
    count(*) FILTER (WHERE day_usd <= 0), count(*) FILTER (WHERE week_usd <= 0), count(*) FILTER (WHERE m.by_volume_total_usd <= 0),
    count(*) FILTER (WHERE m.by_liquidity_usd <= 0)
  FROM (
    SELECT r.*, min(r.hidden) OVER () AS shown,
      CASE WHEN stale_at <= now() THEN 0 ELSE r.by_volume_24h END AS day, CASE WHEN stale_at <= now() THEN 0 ELSE r.by_volume_24h_usd END AS day_usd,
      CASE WHEN stale_week_at <= now() THEN 0 ELSE r.by_volume_7d_usd END AS week_usd
    FROM present_ranks AS r WHERE r.platform = of_platform AND r.event_id = of_event
  ) AS m
  WHERE m.hidden = m.shown GROUP BY m.hidden
$$;
