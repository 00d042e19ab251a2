-- ingestion: markets written since an instant (with {seconds}, only in these) whose state differs from the last logged one,
-- with the logged state; '' = nothing logged yet
WITH touched AS (
  SELECT DISTINCT market_key FROM market_state
  WHERE platform = {platform:String} AND written_at >= {since:DateTime64(3, 'UTC')}
    /* with seconds */ AND has({seconds:Array(UInt32)}, toUnixTimestamp(written_at)) /* end */
)
SELECT ref, platform_id, event_id, s.status AS status, resolved_at, payouts, synced_at, l.status AS previous_status, fingerprint
FROM (
  SELECT market_key, m.ref AS ref, m.platform_id AS platform_id, m.event_id AS event_id, t.status AS status,
    t.resolved_at AS resolved_at, t.synced_at AS synced_at, JSONExtractRaw(t.metadata, 'payouts') AS payouts,
    concat(t.status, '\n', ifNull(toString(t.resolved_at), ''), '\n', payouts, '\n', toString(sipHash64(
      m.title, m.description, m.outcome_names, m.event_id, m.category_slug, ifNull(toString(m.trading_start_at), ''),
      ifNull(toString(m.trading_end_at), ''), ifNull(toString(m.resolution_date), ''), m.resolution_criteria, m.resolution_source
    ))) AS fingerprint
  FROM (
    SELECT * FROM markets FINAL PREWHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM touched)
  ) AS m
  INNER JOIN (
    SELECT market_key, status, resolved_at, synced_at, metadata FROM market_state FINAL
    PREWHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM touched)
  ) AS t USING (market_key)
) AS s
LEFT JOIN (
  SELECT market_key, status, item FROM market_levels FINAL
  PREWHERE platform = {platform:String} AND market_key IN (SELECT market_key FROM touched)
) AS l USING (market_key)
WHERE l.status = '' OR l.item != sipHash64(fingerprint)
ORDER BY synced_at, ref
LIMIT {limit:UInt32}
