-- ingestion: markets settled before an instant whose verdicts or facts are still stored
SELECT DISTINCT market_key
FROM (
  SELECT a_platform AS platform, a_key AS market_key FROM matches
  UNION ALL SELECT b_platform, b_key FROM matches
  UNION ALL SELECT platform, market_key FROM market_facts
)
WHERE (platform, market_key) IN (
  SELECT platform, market_key FROM market_state FINAL
  WHERE status = 'settled' AND ifNull(resolved_at, written_at) < {before:DateTime64(3, 'UTC')}
)
ORDER BY market_key
LIMIT {limit:UInt32}
