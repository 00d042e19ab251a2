-- GET trades/whales, sort=time: a page of large trades, newest first; {source} is whales, or trades for one market and for sizes
-- below the floor of whales. Sorted by stored columns instead of the computed trade_id: wide columns are then read for the page only.
SELECT platform, market_key, trade_id, side, outcome, transaction_hash, price, size, notional, is_block,
  toUnixTimestamp64Micro(executed_at) AS executed_at_us, trade_order, hex(tx_hash) AS id_tx, hex(id_bytes) AS id_hex,
  if(trader = '', '', concat('0x', lower(hex(trader)))) AS wallet
FROM {source:Identifier}
WHERE ({ref:String} = '' OR market_key = sipHash64({platforms:Array(String)}[1], {ref:String}))
  AND (empty({platforms:Array(String)}) OR platform IN {platforms:Array(String)})
  AND (empty({addresses:Array(String)}) OR if(empty(trader), '', concat('0x', lower(hex(trader)))) IN {addresses:Array(String)})
  AND size >= {min_size:Decimal(18, 6)} AND notional >= {min_notional:Decimal(18, 6)}
  AND executed_at >= {start:DateTime64(6, 'UTC')} AND executed_at < {end:DateTime64(6, 'UTC')}
  AND executed_at <= {before:DateTime64(6, 'UTC')}
  AND (executed_at, trade_order, tx_hash, id_bytes) < ({before:DateTime64(6, 'UTC')}, {before_order:UInt64}, unhex({before_tx:String}), unhex({before_id:String}))
ORDER BY executed_at DESC, trade_order DESC, tx_hash DESC, id_bytes DESC
LIMIT {limit:UInt32}
