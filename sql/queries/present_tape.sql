-- present: the newest trades of one market with many, as they are copied to PostgreSQL
SELECT reinterpretAsInt64(bitXor(market_key, 9223372036854775808)) AS key, toUnixTimestamp64Micro(executed_at) AS executed_us,
  reinterpretAsInt64(bitXor(trade_order, 9223372036854775808)) AS trade_order, concat('\\x', if(id_form = 'tx', lower(hex(tx_hash)), '')) AS id_tx,
  if(id_form = 'tx', id_bytes, trades.trade_id) AS id, if(id_form = 'tx' OR tx_hash = '', NULL, concat('\\x', lower(hex(tx_hash)))) AS tx, outcome, outcome_index, series, side,
  price, size, quote_usd, if(trader = '', NULL, concat('\\x', lower(hex(trader)))) AS wallet, is_block
FROM trades
WHERE market_key = {key:UInt64}
ORDER BY trades.executed_at DESC, trades.trade_order DESC, trades.trade_id DESC
LIMIT 1 BY trades.executed_at, trades.trade_order, trades.trade_id
LIMIT {limit:UInt32}
