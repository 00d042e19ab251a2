-- npm run verify: {table}, whales or whale_sizes, against the large trades of markets in [low, high] (with {keys}, of these); a duplicate row counts as a difference
SELECT count() AS compared, countIf(a.copies = 0) AS missing, countIf(e.copies = 0) AS extra,
  countIf(e.copies != 0 AND a.copies != 0 AND (a.copies != 1 OR e.facts != a.facts)) AS different,
  anyIf(concat('trade ', if(e.copies = 0, a.id, e.id), ': held ', toString(a.copies), ' times, ', toString(a.facts), ' instead of ', toString(e.facts)), a.copies != 1 OR e.facts != a.facts) AS example
FROM (
  SELECT market_key, executed_at, trade_order, tx_hash, id_bytes, toUInt64(1) AS copies, trade_id AS id,
    tuple(toString(platform), toString(outcome), toString(side), price, size, notional, trader, is_block) AS facts
  FROM trades FINAL
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND executed_at >= toDateTime({since:UInt32}, 'UTC') AND size >= 250
) AS e
FULL OUTER JOIN (
  SELECT market_key, executed_at, trade_order, tx_hash, id_bytes, count() AS copies, any(trade_id) AS id,
    any(tuple(toString(platform), toString(outcome), toString(side), price, size, notional, trader, is_block)) AS facts
  FROM {table:Identifier}
  WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND executed_at >= toDateTime({since:UInt32}, 'UTC')
  GROUP BY market_key, executed_at, trade_order, tx_hash, id_bytes
) AS a USING (market_key, executed_at, trade_order, tx_hash, id_bytes)
