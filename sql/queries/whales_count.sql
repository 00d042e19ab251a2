-- GET trades/whales: how many trades the filter has; {source} is whale_sizes (no span), whales (a span) or trades (as for the page)
SELECT count() AS trades
FROM {source:Identifier}
WHERE (empty({platforms:Array(String)}) OR platform IN {platforms:Array(String)})
  AND size >= {min_size:Decimal(18, 6)} AND notional >= {min_notional:Decimal(18, 6)}
  AND executed_at >= {start:DateTime64(6, 'UTC')} AND executed_at < {end:DateTime64(6, 'UTC')}
