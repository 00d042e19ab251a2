-- GET trades/whales: the number of matching trades; {source} is whale_sizes (no span), whales (a span) or trades (as for the page)
-- A condition on a constant that is always true is removed, so that its column is not read.
SELECT count() AS trades
FROM {source:Identifier}
WHERE (empty({platforms:Array(String)}) OR platform IN {platforms:Array(String)})
  AND (empty({addresses:Array(String)}) OR if(empty(trader), '', concat('0x', lower(hex(trader)))) IN {addresses:Array(String)})
  AND size >= {min_size:Decimal(18, 6)} AND ({min_notional:Decimal(18, 6)} = 0 OR notional >= {min_notional:Decimal(18, 6)})
  AND ({start:DateTime64(6, 'UTC')} = '1970-01-01 00:00:00' OR executed_at >= {start:DateTime64(6, 'UTC')})
  AND ({end:DateTime64(6, 'UTC')} >= '2199-01-01 00:00:00' OR executed_at < {end:DateTime64(6, 'UTC')})
