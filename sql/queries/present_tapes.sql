-- present: the newest trades of markets, as they are copied to PostgreSQL; a row stored twice is there once
SELECT reinterpretAsInt64(bitXor(market_key, 9223372036854775808)) AS key, toUnixTimestamp64Micro(executed_at) AS executed_us,
  reinterpretAsInt64(bitXor(t.trade_order, 9223372036854775808)) AS trade_order, concat('\\x', if(id_form = 'tx', lower(hex(tx_hash)), '')) AS id_tx,
  if(id_form = 'tx', id_bytes, t.trade_id) AS id, if(id_form = 'tx' OR tx_hash = '', NULL, concat('\\x', lower(hex(tx_hash)))) AS tx, outcome, outcome_index, series, side,
  price, size, quote_usd, if(trader = '', NULL, concat('\\x', lower(hex(trader)))) AS wallet, is_block
FROM (
  SELECT *, trade_id FROM trades WHERE market_key IN (SELECT arrayJoin({keys:Array(UInt64)}))
  LIMIT 1 BY market_key, executed_at, trade_order, trade_id
) AS t
ORDER BY t.market_key, t.executed_at DESC, t.trade_order DESC, t.trade_id DESC
LIMIT {limit:UInt32} BY t.market_key
