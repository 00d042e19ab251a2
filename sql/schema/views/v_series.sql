CREATE OR REPLACE VIEW v_series (
  id String COMMENT 'Unified id as in the API: <platform>:<series_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  series_id String COMMENT 'Joins to v_events and v_markets, with platform',
  title String COMMENT 'As worded by the platform; empty where it words none',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  frequency Nullable(String) COMMENT 'How often it recurs, as worded by the platform; null when it does not say',
  time DateTime64(3, 'UTC') COMMENT 'When its description changed last',
  events_count UInt64 COMMENT 'Stored events',
  open_events UInt64 COMMENT 'Of these with an open market'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat(r.platform, ':', r.series_id) AS id, r.platform AS platform, r.series_id AS series_id, r.title AS title, r.category AS category,
  r.frequency AS frequency, r.version AS time, e.events_count AS events_count, e.open_events AS open_events
FROM series AS r FINAL
LEFT JOIN (
  SELECT e.platform AS platform, e.series_id AS series_id, count() AS events_count, countIf(m.is_open) AS open_events
  FROM events AS e FINAL
  INNER JOIN (
    SELECT platform, event_id, max(status = 'open') AS is_open FROM market_state FINAL WHERE event_id != '' AND NOT is_placeholder AND NOT is_combo GROUP BY platform, event_id
  ) AS m ON m.platform = e.platform AND m.event_id = e.event_id
  WHERE e.series_id != ''
  GROUP BY platform, series_id
) AS e ON e.platform = r.platform AND e.series_id = r.series_id
COMMENT 'Every series, with its events'
