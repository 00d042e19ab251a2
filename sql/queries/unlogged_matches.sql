-- ingestion: newest verdicts on pairs whose first market is of a platform, made since an instant, that the event log lacks, oldest first
WITH
  candidates AS (
    SELECT match_key, a_platform, a_key, a_event_id, b_platform, b_key, b_event_id, relation, previous_relation, kind, rules_version, is_withdrawn,
      found_at, checked_at, concat(toString(match_key), ' ', toString(checked_at)) AS item
    FROM matches
    WHERE a_platform = {platform:String} AND checked_at >= {since:DateTime64(3, 'UTC')}
    ORDER BY checked_at DESC
    LIMIT 1 BY match_key
  ),
  ends AS (
    SELECT toUInt64(epoch - 1) AS ended, max(previous_end) AS last FROM log_epochs
    WHERE feed = 'matches' AND platform = {platform:String} GROUP BY ended
  ),
  unlogged AS (
    SELECT * FROM candidates
    WHERE sipHash64(item) NOT IN (
      SELECT l.item FROM event_log AS l
      LEFT JOIN ends AS e ON e.ended = bitShiftRight(l.sequence, 32)
      WHERE l.feed = 'matches' AND l.platform = {platform:String} AND l.logged_at >= {since:DateTime64(3, 'UTC')} - INTERVAL 1 DAY
        AND (bitShiftRight(l.sequence, 32) NOT IN (SELECT ended FROM ends) OR bitAnd(l.sequence, 4294967295) <= e.last)
    )
    ORDER BY checked_at, match_key
    LIMIT {limit:UInt32}
  )
SELECT match_key, a_platform, a.ref AS a_ref, a.platform_id AS a_id, a.title AS a_title, a_event_id, b_platform, b.ref AS b_ref, b.platform_id AS b_id,
  b.title AS b_title, b_event_id, relation, previous_relation, kind, rules_version, is_withdrawn, found_at, checked_at, item
FROM unlogged
INNER JOIN (
  SELECT platform, market_key, ref, platform_id, title FROM markets FINAL WHERE (platform, market_key) IN (SELECT a_platform, a_key FROM unlogged)
) AS a ON a.market_key = a_key
INNER JOIN (
  SELECT platform, market_key, ref, platform_id, title FROM markets FINAL WHERE (platform, market_key) IN (SELECT b_platform, b_key FROM unlogged)
) AS b ON b.market_key = b_key
ORDER BY checked_at, match_key
