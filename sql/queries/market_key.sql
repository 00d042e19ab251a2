-- endpoints of one market: its key in the store
SELECT sipHash64({platform:String}, {ref:String}) AS market_key
