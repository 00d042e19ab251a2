-- GET markets/trades: a page of one market's trades, newest first
-- A row stored twice by a writer that had lost its lease is shown once, without FINAL.
SELECT trade_id, side, outcome, outcome_index, transaction_hash, price, size, quote_usd, series_price, toUnixTimestamp64Micro(executed_at) AS executed_at_us,
  trade_order, is_block, if(trader = '', '', concat('0x', lower(hex(trader)))) AS wallet
FROM trades
WHERE market_key = sipHash64({platform:String}, {ref:String})
  AND executed_at <= {before:DateTime64(6, 'UTC')}
  AND (executed_at, trade_order, trade_id) < ({before:DateTime64(6, 'UTC')}, {before_order:UInt64}, {before_id:String})
ORDER BY executed_at DESC, trade_order DESC, trade_id DESC
LIMIT 1 BY executed_at, trade_order, trade_id
LIMIT {limit:UInt32}
