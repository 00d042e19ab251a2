-- GET trades/whales: the number of matching trades; {source} is whale_sizes (no span), whales (a span) or trades (as for the page)
SELECT count() AS trades
FROM {source:Identifier}
WHERE size >= {min_size:Decimal(18, 6)}
  /* with min_notional */ AND notional >= {min_notional:Decimal(18, 6)} /* end */
  /* with platforms */ AND platform IN {platforms:Array(String)} /* end */
  /* with addresses */ AND if(empty(trader), '', concat('0x', lower(hex(trader)))) IN {addresses:Array(String)} /* end */
  /* with start */ AND executed_at >= {start:DateTime64(6, 'UTC')} /* end */
  /* with end */ AND executed_at < {end:DateTime64(6, 'UTC')} /* end */
