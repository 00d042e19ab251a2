-- Events and series of the copied markets, as 003 has the markets: what searches over all platforms find.

CREATE TABLE present_events (
  -- The event's hash in ClickHouse less 2^63.
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  id text NOT NULL,
  slug text NOT NULL,
  series_id text NOT NULL,
  category_slug text NOT NULL,
  -- Facts as JSON, as answers hold them.
  info text NOT NULL
);
CREATE INDEX present_events_id ON present_events (platform, id);
CREATE INDEX present_events_slug ON present_events (platform, slug) WHERE slug <> '';
CREATE INDEX present_events_series ON present_events (platform, series_id);

CREATE TABLE present_event_searched (LIKE present_searched INCLUDING ALL) WITH (fillfactor = 90, toast_tuple_target = 320);

-- One row an event, with sums over its markets in the columns of a market; event_id is its own id.
CREATE TABLE present_event_ranks (
  LIKE present_ranks INCLUDING ALL,
  -- Minus the number of its markets.
  by_markets bigint NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX present_event_ranks_markets ON present_event_ranks (platform, hidden, status, by_markets, key);
CREATE TABLE present_event_ranks_were (
  LIKE present_event_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_event_ranks_were_until ON present_event_ranks_were (platform, until);
CREATE INDEX present_event_ranks_were_replaced ON present_event_ranks_were (platform, replaced_at);

CREATE FUNCTION present_event_ranks_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO present_event_ranks_were SELECT f.*, p.version, now() FROM former AS f JOIN present_platforms AS p USING (platform);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE present_event_searched AS t SET hidden = c.hidden, status = c.status, category_slug = c.category_slug, by_end_date = c.by_end_date
    FROM current AS c WHERE t.key = c.key
      AND (t.hidden, t.status, t.category_slug, t.by_end_date) IS DISTINCT FROM (c.hidden, c.status, c.category_slug, c.by_end_date);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER present_event_ranks_inserted AFTER INSERT ON present_event_ranks
  REFERENCING NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_event_ranks_changed();
CREATE TRIGGER present_event_ranks_updated AFTER UPDATE ON present_event_ranks
  REFERENCING OLD TABLE AS former NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_event_ranks_changed();
CREATE TRIGGER present_event_ranks_deleted AFTER DELETE ON present_event_ranks
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION present_event_ranks_changed();

-- Sums over the markets of an event as they are now: those that lists show, or all of them where lists show none. The platform's own sums
-- are unknown where one is; those in USD are sums of the known ones, whose number stands beside them.
CREATE FUNCTION present_event_sums(of_platform text, of_event text) RETURNS TABLE (
  hidden smallint, markets bigint, open_markets bigint, status text, by_volume_24h bigint, by_volume_total bigint, by_liquidity bigint,
  liquidity_known boolean, by_end_date bigint, by_created bigint, by_volume_24h_usd bigint, by_volume_7d_usd bigint, by_volume_total_usd bigint,
  by_liquidity_usd bigint, known_24h bigint, known_7d bigint, known_total bigint, known_liquidity bigint
) LANGUAGE sql STABLE AS $$
  SELECT m.hidden, count(*), count(*) FILTER (WHERE m.status = 'open'),
    (ARRAY['open', 'paused', 'unopened', 'closed', 'settled'])[min(array_position(ARRAY['open', 'paused', 'unopened', 'closed', 'settled'], m.status))],
    CASE WHEN bool_or(day > 0) THEN 1000000 ELSE sum(day) END::bigint,
    CASE WHEN bool_or(m.by_volume_total > 0) THEN 1000000 ELSE sum(m.by_volume_total) END::bigint,
    sum(m.by_liquidity)::bigint, bool_and(m.liquidity_known),
    max(m.by_end_date), coalesce(max(m.by_created) FILTER (WHERE m.by_created <> 0), 0),
    coalesce(sum(day_usd) FILTER (WHERE day_usd <= 0), 1000000)::bigint, coalesce(sum(week_usd) FILTER (WHERE week_usd <= 0), 1000000)::bigint,
    coalesce(sum(m.by_volume_total_usd) FILTER (WHERE m.by_volume_total_usd <= 0), 1000000)::bigint,
    coalesce(sum(m.by_liquidity) FILTER (WHERE m.liquidity_known), 1000000)::bigint,
    count(*) FILTER (WHERE day_usd <= 0), count(*) FILTER (WHERE week_usd <= 0), count(*) FILTER (WHERE m.by_volume_total_usd <= 0),
    count(*) FILTER (WHERE m.liquidity_known)
  FROM (
    SELECT r.*, min(r.hidden) OVER () AS shown,
      CASE WHEN stale_at <= now() THEN 0 ELSE r.by_volume_24h END AS day, CASE WHEN stale_at <= now() THEN 0 ELSE r.by_volume_24h_usd END AS day_usd,
      CASE WHEN stale_week_at <= now() THEN 0 ELSE r.by_volume_7d_usd END AS week_usd
    FROM present_ranks AS r WHERE r.platform = of_platform AND r.event_id = of_event
  ) AS m
  WHERE m.hidden = m.shown GROUP BY m.hidden
$$;

CREATE TABLE present_series (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  -- The group that brought it.
  version bigint NOT NULL,
  id text NOT NULL,
  category_slug text NOT NULL,
  info text NOT NULL,
  title text NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX present_series_id ON present_series (platform, id);
CREATE INDEX present_series_words ON present_series USING gin (words) WITH (gin_pending_list_limit = 256);
