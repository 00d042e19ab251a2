-- ingestion: facts of open markets by these rules, stored since an instant, the newest of each market in the order of keys. Without FINAL,
-- which would read the facts of all markets for those of a few.
SELECT platform, market_key, texts, event_id, category_slug, facts
FROM market_facts
PREWHERE market_key > {after:UInt64} AND stored_at >= {since:DateTime64(3, 'UTC')} AND rules_version = {rules:UInt32}
WHERE {since:DateTime64(3, 'UTC')} > toDateTime64(0, 3, 'UTC') OR market_key IN (
  SELECT market_key FROM market_state FINAL WHERE status IN ('unopened', 'open', 'paused')
)
ORDER BY market_key, stored_at DESC
LIMIT 1 BY market_key
LIMIT {limit:UInt32}
