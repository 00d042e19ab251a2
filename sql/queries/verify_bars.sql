-- npm run verify: bars of {step} seconds made from the platform's bars of {minutes} minutes, against the trades of markets in [low, high] (with {keys}, of these)
-- Only Kalshi has bars of trades: a trade counts at the end of its bar, not at the start. Block trades may set prices there: only the
-- volume of a bar with one is compared.
-- Compares finished bars of spans with all trades stored; a bar with less volume than its trades is not served, because parts of it are unread.
-- A market that ended over a day ago without a stored trade has a feed without its trades: its own bars are served.
SELECT count() AS compared, 0 AS missing, countIf(traded = 0) AS extra, countIf(traded != 0 AND NOT agrees) AS different,
  anyIf(concat('market ', toString(market_key), ', ', toString(b), ': ', toString(bar), ' instead of ', toString(trades)), NOT agrees) AS example
FROM (
  SELECT p.market_key AS market_key, p.b AS b, (p.open, p.high, p.low, p.close, p.v) AS bar, e.n AS traded,
    (e.opens, e.high, e.low, e.closes, e.v) AS trades,
    p.v = e.v AND (e.blocks > 0 OR if(empty(e.opens), isNull(p.open) AND isNull(p.close), has(e.opens, p.open) AND p.high = e.high AND p.low = e.low AND has(e.closes, p.close))) AS agrees
  FROM (
    SELECT platform, market_key, toDateTime(toStartOfInterval(t, toIntervalSecond({step:UInt32})), 'UTC') AS b,
      argMinIf(c.open, t, volume > 0) AS open, maxIf(c.high, volume > 0) AS high, minIf(c.low, volume > 0) AS low, argMaxIf(c.close, t, volume > 0) AS close,
      toDecimal128(sum(volume), 6) AS v
    FROM platform_candles AS c FINAL
    WHERE source = 'trades' AND interval_min = {minutes:UInt16} AND market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND t >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY platform, market_key, b HAVING v > 0 AND min(version) >= b + {step:UInt32}
  ) AS p
  LEFT JOIN (
    SELECT market_key, b, argMinIf(prices, at, notEmpty(prices)) AS opens, arrayMax(groupArrayArray(prices)) AS high, arrayMin(groupArrayArray(prices)) AS low,
      argMaxIf(prices, at, notEmpty(prices)) AS closes, toDecimal128(sum(size_sum), 6) AS v, sum(trade_count) AS n, sum(block_count) AS blocks
    FROM (
      SELECT market_key, executed_at AS at, toDateTime(toStartOfInterval(executed_at - toIntervalMicrosecond(1), toIntervalSecond({step:UInt32})), 'UTC') AS b,
        groupUniqArrayIf(series_price, NOT is_block) AS prices, sum(size) AS size_sum, count() AS trade_count, countIf(is_block) AS block_count
      FROM trades FINAL
      WHERE market_key IN (SELECT market_key FROM platform_candles WHERE source = 'trades') AND market_key >= {low:UInt64} AND market_key <= {high:UInt64} /* with keys */ AND market_key IN {keys:Array(UInt64)} /* end */ AND executed_at >= toDateTime({since:UInt32}, 'UTC')
      GROUP BY market_key, at
    )
    GROUP BY market_key, b
  ) AS e USING (market_key, b)
  LEFT JOIN (SELECT platform, complete_from, complete_to FROM trade_coverage FINAL WHERE market_key = 0 AND marker != 'each market') AS feed ON feed.platform = p.platform
  LEFT JOIN (SELECT market_key, complete_from, complete_to FROM trade_coverage FINAL WHERE market_key != 0) AS own ON own.market_key = p.market_key
  LEFT JOIN (SELECT platform, groupArray((gap_from, gap_to)) AS spans FROM trade_gaps FINAL WHERE filled = 0 GROUP BY platform) AS gaps ON gaps.platform = p.platform
  WHERE p.v >= e.v
    AND NOT (e.n = 0 AND p.market_key IN (
      SELECT market_key FROM market_state FINAL
      WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64} AND status IN ('closed', 'settled')
        AND (synced_at < now() - INTERVAL 1 DAY OR trading_end_at < now() - INTERVAL 1 DAY OR resolved_at < now() - INTERVAL 1 DAY)
        AND market_key NOT IN (SELECT market_key FROM market_totals WHERE market_key >= {low:UInt64} AND market_key <= {high:UInt64})))
    AND ((p.b >= feed.complete_from AND p.b + {step:UInt32} < feed.complete_to) OR (p.b >= own.complete_from AND p.b + {step:UInt32} < own.complete_to))
    AND NOT arrayExists(gap -> gap.1 < p.b + {step:UInt32} AND gap.2 >= p.b, gaps.spans)
)
