-- ingestion: seconds since an instant in which states of a platform's markets were written, each with a digest of the rows;
-- a price updated from trades keeps the times of its row and does not change the digest
SELECT second, toString(sum(row)) AS digest
FROM (
  SELECT DISTINCT toUnixTimestamp(written_at) AS second, sipHash64(market_key, written_at, synced_at) AS row FROM market_state
  WHERE platform = {platform:String} AND written_at >= {since:DateTime64(3, 'UTC')}
)
GROUP BY second
