-- books: when the book of each market of a platform was last seen
WITH newest AS (SELECT max(received_at) - INTERVAL 10 MINUTE FROM book_snapshots WHERE platform = {platform:String})
SELECT ref, max(seen) AS seen_at
FROM (
  SELECT market_key, max(received_at) AS seen FROM book_snapshots WHERE platform = {platform:String} GROUP BY market_key
  UNION ALL
  -- Older changes are not needed: each book has a snapshot at least every ten minutes.
  SELECT market_key, max(received_at) AS seen FROM book_changes
  WHERE platform = {platform:String} AND received_at >= (SELECT * FROM newest) GROUP BY market_key
) AS s
INNER JOIN (SELECT market_key, ref FROM markets FINAL WHERE platform = {platform:String}) AS m USING (market_key)
GROUP BY ref
ORDER BY seen_at
