-- GET trades/whales with market_id: the number of matching trades
SELECT count() AS trades
FROM trades FINAL
PREWHERE market_key = sipHash64({platforms:Array(String)}[1], {ref:String})
  AND executed_at >= {start:DateTime64(6, 'UTC')} AND executed_at < {end:DateTime64(6, 'UTC')}
WHERE size >= {min_size:Decimal(18, 6)} AND notional >= {min_notional:Decimal(18, 6)}
  AND (empty({addresses:Array(String)}) OR if(empty(trader), '', concat('0x', lower(hex(trader)))) IN {addresses:Array(String)})
