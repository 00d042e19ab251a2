-- npm run verify: whale_sizes against the large trades of markets in [low, high] (of {keys}, unless empty), at their places; a row
-- held twice is different. Rows at places where no such trade is are seen in the check of the whole table only.
SELECT count() AS compared, countIf(a.copies = 0) AS missing, countIf(e.copies = 0) AS extra,
  countIf(e.copies != 0 AND a.copies != 0 AND (a.copies != 1 OR e.facts != a.facts)) AS different,
  anyIf(concat('size ', toString(size), ' at ', toString(executed_at), ': held ', toString(a.copies), ' times'), a.copies != 1 OR e.facts != a.facts) AS example
FROM (
  SELECT size, executed_at, trade_order, sipHash64(platform, id_bytes, tx_hash) AS id_key, toUInt64(1) AS copies, tuple(toString(platform), notional) AS facts
  FROM trades FINAL
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND (empty({keys:Array(UInt64)}) OR market_key IN {keys:Array(UInt64)}) AND executed_at >= toDateTime({since:UInt32}, 'UTC') AND size >= 250
) AS e
FULL OUTER JOIN (
  SELECT size, executed_at, trade_order, id_key, count() AS copies, any(tuple(toString(platform), notional)) AS facts
  FROM whale_sizes
  WHERE executed_at >= toDateTime({since:UInt32}, 'UTC') AND ({whole:Bool} OR (size, executed_at, trade_order) IN (
    SELECT size, executed_at, trade_order FROM trades
    WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND (empty({keys:Array(UInt64)}) OR market_key IN {keys:Array(UInt64)}) AND size >= 250
  ))
  GROUP BY size, executed_at, trade_order, id_key
) AS a USING (size, executed_at, trade_order, id_key)
