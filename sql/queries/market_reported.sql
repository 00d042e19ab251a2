-- histories, GET markets/trades, GET trades/whales: the volume that the platform reports of a market, and how many of its trades are stored
SELECT
  (SELECT toString(volume_total) FROM market_state FINAL PREWHERE platform = {platform:String} AND market_key = sipHash64({platform:String}, {ref:String})) AS volume,
  (SELECT sum(n) FROM market_totals WHERE market_key = sipHash64({platform:String}, {ref:String})) AS trades
