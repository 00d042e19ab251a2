-- GET markets/trades: the number of stored trades of the market
SELECT sum(n) AS trades FROM market_totals WHERE market_key = sipHash64({platform:String}, {ref:String})
