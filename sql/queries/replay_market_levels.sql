-- ingestion: stores the last logged state of each market, for the last hours and everything after the newest level
INSERT INTO market_levels (platform, market_key, status, item, version)
WITH ends AS (
  SELECT toUInt64(epoch - 1) AS ended, max(previous_end) AS last FROM log_epochs
  WHERE feed = 'markets' AND platform = {platform:String} GROUP BY ended
)
SELECT platform, sipHash64(toString(platform), ref), JSONExtractString(data, 'status'), item, sequence
FROM event_log AS l LEFT JOIN ends AS e ON e.ended = bitShiftRight(l.sequence, 32)
WHERE feed = 'markets' AND platform = {platform:String}
  AND (logged_at >= now() - toIntervalHour({hours:UInt32})
    OR l.sequence > (SELECT max(version) FROM market_levels WHERE platform = {platform:String}))
  AND (bitShiftRight(l.sequence, 32) NOT IN (SELECT ended FROM ends) OR bitAnd(l.sequence, 4294967295) <= e.last)
