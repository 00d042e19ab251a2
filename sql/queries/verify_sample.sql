-- npm run verify: markets to check, chosen at random from the seed, also those that only a roll-up has
SELECT market_key
FROM (SELECT market_key FROM trades UNION DISTINCT SELECT market_key FROM market_totals)
ORDER BY sipHash64(market_key, {seed:UInt32})
LIMIT {markets:UInt32}
