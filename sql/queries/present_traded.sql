-- present: markets with trades stored since an instant
SELECT DISTINCT ref FROM market_refs
WHERE platform = {platform:String} AND market_key IN (
  SELECT DISTINCT market_key FROM trades WHERE platform = {platform:String} AND ingested_at >= {since:DateTime64(3, 'UTC')}
)
