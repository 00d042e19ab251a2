-- ingestion: which of these trades are stored, by market, order of the id, and period
SELECT trade_id FROM trades
WHERE market_key IN (SELECT sipHash64({platform:String}, arrayJoin({refs:Array(String)})))
  AND executed_at >= {from:DateTime64(6)} AND executed_at <= {to:DateTime64(6)} AND trade_order IN {orders:Array(UInt64)}
