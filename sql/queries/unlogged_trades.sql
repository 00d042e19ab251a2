-- ingestion: trades stored since an instant that the event log lacks, oldest first. Events are logged after their trade was executed;
-- one day is allowed for clock differences.
WITH
  candidates AS (
    SELECT market_key, trade_id, executed_at, trade_order, outcome, outcome_index, side, price, size, quote_usd, series_price, notional, is_block,
      transaction_hash, trader, ingested_at, sipHash64(trade_id) AS item
    FROM trades
    WHERE platform = {platform:String} AND ingested_at >= {since:DateTime64(3, 'UTC')} AND executed_at >= {opened:DateTime64(6, 'UTC')}
  ),
  ends AS (
    SELECT toUInt64(epoch - 1) AS ended, max(previous_end) AS last FROM log_epochs
    WHERE feed = 'trades' AND platform = {platform:String} GROUP BY ended
  )
SELECT r.ref AS ref, trade_id, toUnixTimestamp64Micro(executed_at) AS executed_at_us, outcome, outcome_index, side, price, size, quote_usd, series_price,
  notional, is_block, transaction_hash, if(trader = '', '', concat('0x', lower(hex(trader)))) AS wallet, ingested_at
FROM candidates AS c
INNER JOIN (SELECT DISTINCT market_key, ref FROM market_refs WHERE market_key IN (SELECT market_key FROM candidates)) AS r USING (market_key)
WHERE item NOT IN (
  SELECT item FROM event_log AS l
  LEFT JOIN ends AS e ON e.ended = bitShiftRight(l.sequence, 32)
  WHERE feed = 'trades' AND platform = {platform:String}
    AND logged_at >= (SELECT min(executed_at) FROM candidates) - INTERVAL 1 DAY
    AND item IN (SELECT item FROM candidates)
    AND (bitShiftRight(l.sequence, 32) NOT IN (SELECT ended FROM ends) OR bitAnd(l.sequence, 4294967295) <= e.last)
)
ORDER BY executed_at, trade_order, trade_id
LIMIT 1 BY trade_id
LIMIT {limit:UInt32}
