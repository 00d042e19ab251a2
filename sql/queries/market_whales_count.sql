-- GET trades/whales with market_id: the number of matching trades
SELECT count() AS trades
FROM trades FINAL
PREWHERE market_key = sipHash64({platforms:Array(String)}[1], {ref:String})
  /* with start */ AND executed_at >= {start:DateTime64(6, 'UTC')} /* end */
  /* with end */ AND executed_at < {end:DateTime64(6, 'UTC')} /* end */
WHERE size >= {min_size:Decimal(18, 6)}
  /* with min_notional */ AND notional >= {min_notional:Decimal(18, 6)} /* end */
  /* with addresses */ AND if(empty(trader), '', concat('0x', lower(hex(trader)))) IN {addresses:Array(String)} /* end */
