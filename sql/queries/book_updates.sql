-- streams: messages of some markets' recorded books, each after a sequence, written since an instant: changes, whole books that begin a period, and gaps (with a reason and no sequence)
WITH fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC') AS since,
  (key) -> transform(key, {keys:Array(UInt64)}, {sequences:Array(UInt64)}, toUInt64(0)) AS known
SELECT toString(market_key) AS market_key, sequence, begins, exchange_at, received_at, levels, gap_from, reason FROM (
  SELECT c.market_key AS market_key, c.sequence AS sequence, false AS begins, any(c.exchange_at) AS exchange_at,
    any(c.received_at) AS received_at, groupUniqArray((toString(side), toString(price), toString(size))) AS levels,
    CAST(NULL, 'Nullable(DateTime64(3, ''UTC''))') AS gap_from, '' AS reason
  FROM book_changes AS c
  WHERE c.written_at >= since AND c.received_at >= since - INTERVAL 1 DAY AND c.market_key IN {keys:Array(UInt64)}
    AND c.sequence > known(c.market_key)
  GROUP BY c.platform, c.market_key, c.sequence
  UNION ALL
  SELECT b.market_key AS market_key, b.sequence AS sequence, true AS begins, any(b.exchange_at) AS exchange_at,
    any(b.received_at) AS received_at,
    any(arrayConcat(arrayMap((p, s) -> ('bid', toString(p), toString(s)), bid_prices, bid_sizes),
      arrayMap((p, s) -> ('ask', toString(p), toString(s)), ask_prices, ask_sizes))) AS levels,
    NULL AS gap_from, '' AS reason
  FROM book_snapshots AS b
  WHERE b.begins AND b.written_at >= since AND b.received_at >= since - INTERVAL 1 DAY AND b.market_key IN {keys:Array(UInt64)}
    AND b.sequence > known(b.market_key)
  GROUP BY b.platform, b.market_key, b.sequence
  UNION ALL
  SELECT g.market_key AS market_key, 0 AS sequence, false AS begins, NULL AS exchange_at, g.to_at AS received_at,
    [] AS levels, g.from_at AS gap_from, toString(g.reason) AS reason
  FROM book_gaps AS g
  WHERE g.written_at >= since AND g.from_at >= since - INTERVAL 1 DAY AND g.market_key IN {keys:Array(UInt64)}
)
ORDER BY sequence
