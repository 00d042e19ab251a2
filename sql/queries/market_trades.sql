-- GET markets/trades: a page of one market's trades, newest first
SELECT t.trade_id AS trade_id, t.side AS side, t.outcome AS outcome, t.outcome_index AS outcome_index, t.transaction_hash AS transaction_hash,
  t.price AS price, t.size AS size, t.series_price AS series_price, toUnixTimestamp64Micro(t.executed_at) AS executed_at_us, t.trade_order AS trade_order,
  t.is_block AS is_block, if(t.trader = '', '', concat('0x', lower(hex(t.trader)))) AS wallet,
  u.name AS name, u.pseudonym AS pseudonym, u.profile_image AS profile_image
FROM (
  SELECT trade_id, side, outcome, outcome_index, transaction_hash, price, size, series_price, executed_at, trade_order, is_block, trader
  FROM trades FINAL
  WHERE market_key = sipHash64({platform:String}, {ref:String})
    AND executed_at <= {before:DateTime64(6, 'UTC')}
    AND (executed_at, trade_order, trade_id) < ({before:DateTime64(6, 'UTC')}, {before_order:UInt64}, {before_id:String})
    AND ingested_at <= {as_of:DateTime64(3, 'UTC')}
  ORDER BY market_key DESC, executed_at DESC, trade_order DESC, trade_id DESC
  LIMIT {limit:UInt32}
) AS t
LEFT JOIN (
  SELECT trader, name, pseudonym, profile_image FROM traders FINAL
  WHERE platform = {platform:String} AND trader IN (
    SELECT trader FROM trades WHERE market_key = sipHash64({platform:String}, {ref:String}) AND trader != ''
      AND executed_at <= {before:DateTime64(6, 'UTC')} ORDER BY executed_at DESC LIMIT {limit:UInt32}
  )
) AS u USING (trader)
ORDER BY executed_at_us DESC, trade_order DESC, trade_id DESC
