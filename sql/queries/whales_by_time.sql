-- GET trades/whales, sort=time: a page of large trades, newest first; {source} is whales, or trades for one market and for sizes
-- below the floor of whales. Sorted by stored columns instead of the computed trade_id: wide columns are then read for the page only.
SELECT platform, market_key, trade_id, side, outcome, transaction_hash, price, size, notional, is_block,
  toUnixTimestamp64Micro(executed_at) AS executed_at_us, trade_order, hex(tx_hash) AS id_tx, hex(id_bytes) AS id_hex,
  if(trader = '', '', concat('0x', lower(hex(trader)))) AS wallet
FROM {source:Identifier}
WHERE size >= {min_size:Decimal(18, 6)}
  /* with ref */ AND market_key = sipHash64({platforms:Array(String)}[1], {ref:String}) /* end */
  /* with min_notional */ AND notional >= {min_notional:Decimal(18, 6)} /* end */
  /* with platforms */ AND platform IN {platforms:Array(String)} /* end */
  /* with addresses */ AND if(empty(trader), '', concat('0x', lower(hex(trader)))) IN {addresses:Array(String)} /* end */
  /* with start */ AND executed_at >= {start:DateTime64(6, 'UTC')} /* end */
  /* with end */ AND executed_at < {end:DateTime64(6, 'UTC')} /* end */
  /* with before */ AND executed_at <= {before:DateTime64(6, 'UTC')}
  AND (executed_at, trade_order, tx_hash, id_bytes) < ({before:DateTime64(6, 'UTC')}, {before_order:UInt64}, unhex({before_tx:String}), unhex({before_id:String})) /* end */
ORDER BY executed_at DESC, trade_order DESC, tx_hash DESC, id_bytes DESC
LIMIT {limit:UInt32}
