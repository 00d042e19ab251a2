-- GET markets/trades: how many trades of the market are stored
SELECT sum(n) AS trades FROM market_totals WHERE market_key = sipHash64({platform:String}, {ref:String})
