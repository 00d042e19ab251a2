-- ingestion: the seconds in which states of a platform's markets were written since an instant, each with a digest of what was written;
-- a price that trades set later keeps the times of its row, and leaves the digest as it is
SELECT second, toString(sum(row)) AS digest
FROM (
  SELECT DISTINCT toUnixTimestamp(written_at) AS second, sipHash64(market_key, written_at, synced_at) AS row FROM market_state
  WHERE platform = {platform:String} AND written_at >= {since:DateTime64(3, 'UTC')}
)
GROUP BY second
