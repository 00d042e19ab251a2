-- npm run verify: number of trades and markets to check
SELECT count() AS trades, uniqExact(market_key) AS markets FROM trades
