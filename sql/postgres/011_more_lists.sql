-- Lists of markets by the time of their resolution, like the lists by price in sql/postgres/009_present_prices.sql.
ALTER TABLE present_ranks
  -- Minus milliseconds, 0 where the platform has stated no result.
  ADD COLUMN by_resolved bigint NOT NULL DEFAULT 0;
CREATE INDEX present_ranks_resolved ON present_ranks (platform, hidden, status, by_resolved, key);

-- Lists of markets and events by liquidity_usd, which counts the best levels on every platform. liquidity is the platform's own figure.
ALTER TABLE present_ranks ADD COLUMN by_liquidity_usd bigint NOT NULL DEFAULT 1000000;
CREATE INDEX present_ranks_liquidity_usd ON present_ranks (platform, hidden, status, by_liquidity_usd, key);
ALTER TABLE present_event_ranks ADD COLUMN by_liquidity_usd bigint NOT NULL DEFAULT 1000000;
CREATE INDEX present_event_ranks_liquidity_usd ON present_event_ranks (platform, hidden, status, by_liquidity_usd, key);

-- The tables of former rows begin with the columns of the ranks, so they are created again.
DROP TABLE present_ranks_were;
CREATE TABLE present_ranks_were (
  LIKE present_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_ranks_were_until ON present_ranks_were (platform, until);
CREATE INDEX present_ranks_were_replaced ON present_ranks_were (platform, replaced_at);
DROP TABLE present_event_ranks_were;
CREATE TABLE present_event_ranks_were (
  LIKE present_event_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_event_ranks_were_until ON present_event_ranks_were (platform, until);
CREATE INDEX present_event_ranks_were_replaced ON present_event_ranks_were (platform, replaced_at);

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

-- Adds condition ids to the names of markets. A copy of a market stores names only if its facts have changed, so stored markets get theirs
-- here. The pattern reads the metadata, the last of the facts, as text: PostgreSQL refuses a value with an escaped NUL as JSON.
INSERT INTO present_names (platform, name, key, rank)
SELECT platform, name, key, 4
FROM (
  SELECT platform, key, lower(substring(info FROM ',"info_metadata":".*[{,]\\"condition_id\\":\\"(0x[0-9a-fA-F]+)\\"')) AS name
  FROM present_markets
) AS m
WHERE name IS NOT NULL
ON CONFLICT DO NOTHING;

-- All markets are copied again at the next start.
UPDATE present_platforms SET copied_to = NULL, former_from = version;
