-- npm run verify: how much there is to check
SELECT count() AS trades, uniqExact(market_key) AS markets FROM trades
