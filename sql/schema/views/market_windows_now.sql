-- The rows that market_windows_mv stores. A window is (at − W, at], exact to the microsecond: whole hours from volume_1h, the hours in which a
-- window begins from the trades. Trades count if they are complete for both windows; else the totals of snapshots count, the newest at most
-- six hours older than the instant, zero before the market was created.
-- A closed or settled market has no volume in a window that begins after its last reading; the figure of that reading stays stored. A market
-- may close before the end of trading that its platform states.
CREATE OR REPLACE VIEW market_windows_now AS
WITH
  now64(6, 'UTC') AS instant, toDateTime64('1970-01-01 00:00:00', 6, 'UTC') AS ever, toDateTime64('2200-01-01 00:00:00', 6, 'UTC') AS never,
  instant - toIntervalDay(1) AS day, instant - toIntervalDay(2) AS two_days, instant - toIntervalDay(7) AS week, instant - toIntervalDay(14) AS two_weeks, instant - toIntervalDay(30) AS month,
  [toStartOfHour(day), toStartOfHour(two_days), toStartOfHour(week), toStartOfHour(two_weeks), toStartOfHour(month)] AS edges,
  feeds AS (
    SELECT f.platform AS platform, f.complete_from AS feed_from, f.complete_to AS feed_to, f.marker = 'each market' AS of_markets, g.gap_to AS gap_to
    FROM (SELECT platform, complete_from, complete_to, marker FROM trade_coverage FINAL WHERE market_key = 0) AS f
    LEFT JOIN (SELECT platform, max(gap_to) AS gap_to FROM trade_gaps FINAL WHERE filled = 0 GROUP BY platform) AS g USING (platform)
  ),
  in_contracts AS (SELECT platform FROM platforms WHERE volume_basis = 'contracts'),
  -- No feed has their trades, so "no stored trades" does not mean "never traded".
  pools AS (SELECT market_key FROM markets FINAL WHERE platform IN (SELECT platform FROM platforms WHERE has_pools) AND JSONExtractString(metadata, 'trade_type') = 'amm'),
  sold AS (
    SELECT market_key,
      toDecimal64(sumIf(x, t > day), 6) AS day_sold, toDecimal64(sumIf(x, t > two_days AND t <= day), 6) AS day_before,
      toDecimal64(sumIf(x, t > week), 6) AS week_sold, toDecimal64(sumIf(x, t > two_weeks AND t <= week), 6) AS week_before,
      toDecimal64(sumIf(x, t > month), 6) AS month_sold,
      toDecimal64(sumIf(usd, t > day), 6) AS day_usd, toDecimal64(sumIf(usd, t > week), 6) AS week_usd
    FROM (
      SELECT market_key, toDateTime64(hour, 6, 'UTC') AS t, if(platform IN in_contracts, v, q) AS x, q AS usd FROM volume_1h
      WHERE hour > toStartOfHour(month) AND NOT has(edges, hour)
      UNION ALL
      SELECT market_key, executed_at, if(platform IN in_contracts, size, notional), notional FROM (
        SELECT market_key, platform, executed_at, size, notional FROM trades
        WHERE market_key IN (SELECT market_key FROM volume_1h WHERE has(edges, hour)) AND executed_at >= toStartOfHour(month) AND has(edges, toStartOfHour(executed_at))
        LIMIT 1 BY market_key, executed_at, trade_order, tx_hash, id_bytes
      )
    )
    GROUP BY market_key
  ),
  totals AS (
    SELECT market_key,
      argMaxIf(total, seen, seen <= day AND seen >= day - toIntervalHour(6)) AS day_total,
      argMaxIf(total, seen, seen <= two_days AND seen >= two_days - toIntervalHour(6)) AS two_days_total,
      argMaxIf(total, seen, seen <= week AND seen >= week - toIntervalHour(6)) AS week_total,
      argMaxIf(total, seen, seen <= two_weeks AND seen >= two_weeks - toIntervalHour(6)) AS two_weeks_total
    FROM (
      SELECT market_key, at AS seen, volume_total AS total FROM market_snapshots
      WHERE market_key IN (
          SELECT market_key FROM market_state FINAL
          WHERE status = 'open' AND (market_key IN pools OR platform NOT IN (SELECT platform FROM feeds WHERE NOT of_markets AND greatest(feed_from, gap_to) <= two_days AND feed_to >= instant - toIntervalMinute(15)))
        )
        AND ((seen <= day AND seen >= day - toIntervalHour(6)) OR (seen <= two_days AND seen >= two_days - toIntervalHour(6)))
      UNION ALL
      SELECT market_key, at AS seen, volume_total AS total FROM market_snapshots
      WHERE market_key IN (
          SELECT market_key FROM market_state FINAL
          WHERE status = 'open' AND (market_key IN pools OR platform NOT IN (SELECT platform FROM feeds WHERE NOT of_markets AND greatest(feed_from, gap_to) <= two_weeks AND feed_to >= instant - toIntervalMinute(15)))
        )
        AND ((seen <= week AND seen >= week - toIntervalHour(6)) OR (seen <= two_weeks AND seen >= two_weeks - toIntervalHour(6)))
    )
    GROUP BY market_key
  ),
  -- If the platform reports volume and no trade is stored, no feed has the market's trades.
  (complete, traded, in_usd, figure) -> multiIf(complete AND (traded > 0 OR ifNull(figure, toDecimal64(0, 6)) = 0), 'traded', in_usd AND isNotNull(figure) OR figure = 0, 'reported', 'unknown') AS usd_basis,
  (basis, traded, figure) -> multiIf(basis = 'traded', toNullable(traded), basis = 'reported', figure, NULL) AS usd_amount,
  measured AS (
    SELECT s.platform AS platform, s.market_key AS market_key, status, category, category_slug, prices, bids, asks, price_change_24h, price_change_7d,
      liquidity, open_interest, volume_total, s.volume_24h AS told_24h, s.volume_7d AS told_7d, s.volume_30d AS told_30d,
      day_sold, day_before, week_sold, week_before, month_sold, first_seen_at, liquidity_known, liquidity_usd,
      day_usd, week_usd, u.total_usd AS total_usd, s.platform NOT IN in_contracts AS in_usd, status IN ('closed', 'settled') AND synced_at <= day AS quiet_1d, status IN ('closed', 'settled') AND synced_at <= week AS quiet_7d,
      coalesce(trading_start_at, created_at) AS born, if(status IN ('closed', 'settled'), least(ifNull(trading_end_at, synced_at), synced_at), NULL) AS ended,
      -- A span made of the spans of markets says nothing about what one of them lacks.
      greatest(f.gap_to, multiIf(f.of_markets AND c.own_to > ever, c.own_from, c.own_to >= f.feed_from AND f.feed_to >= c.own_from, least(c.own_from, f.feed_from), c.own_to > f.feed_to, c.own_from, f.feed_from)) AS stored_from,
      multiIf(s.market_key IN pools OR greatest(c.own_to, f.feed_to) < instant - toIntervalMinute(15), never, ifNull(born >= stored_from, 0), ever, stored_from) AS complete_from,
      if(f.of_markets AND c.own_to <= ever, never, complete_from) AS usd_from,
      usd_basis(usd_from <= day, day_usd, in_usd, told_24h) AS basis_day, usd_basis(usd_from <= week, week_usd, in_usd, told_7d) AS basis_week,
      if(born > day, toDecimal64(0, 6), t.day_total) AS total_1d, if(born > two_days, toDecimal64(0, 6), t.two_days_total) AS total_2d,
      if(born > week, toDecimal64(0, 6), t.week_total) AS total_7d, if(born > two_weeks, toDecimal64(0, 6), t.two_weeks_total) AS total_14d
    FROM (
      SELECT platform, market_key, status, category, category_slug, prices, bids, asks, volume_24h, volume_7d, volume_30d, volume_total, liquidity, open_interest,
        price_change_24h, price_change_7d, trading_start_at, trading_end_at, created_at, first_seen_at, liquidity_known, liquidity_usd, synced_at
      FROM market_state FINAL WHERE NOT is_placeholder AND NOT is_combo
    ) AS s
    LEFT JOIN sold AS o USING (market_key)
    LEFT JOIN (SELECT market_key, complete_from AS own_from, complete_to AS own_to FROM trade_coverage FINAL WHERE market_key != 0) AS c USING (market_key)
    LEFT JOIN feeds AS f USING (platform)
    LEFT JOIN totals AS t USING (market_key)
    LEFT JOIN (SELECT market_key, toDecimal64(sumWithOverflow(q), 6) AS total_usd FROM market_totals GROUP BY market_key) AS u USING (market_key)
  )
SELECT platform, market_key, toDateTime64(instant, 3, 'UTC') AS as_of, status, category, category_slug,
  prices[1] AS price, prices[2] AS other_price, if(bids[1] <= asks[1], asks[1] - bids[1], NULL) AS spread, price_change_24h, price_change_7d, liquidity, open_interest, volume_total,
  multiIf(ended IS NULL, ifNull(told_24h, if(complete_from <= day, toNullable(day_sold), NULL)), complete_from <= day, day_sold, ended <= day, 0, told_24h) AS volume_24h,
  multiIf(ended IS NULL, ifNull(told_7d, if(complete_from <= week, toNullable(week_sold), NULL)), complete_from <= week, week_sold, ended <= week, 0, told_7d) AS volume_7d,
  multiIf(ended IS NULL, ifNull(told_30d, if(complete_from <= month, toNullable(month_sold), NULL)), complete_from <= month, month_sold, ended <= month, 0, told_30d) AS volume_30d,
  multiIf(complete_from <= two_days, 'trades', volume_total >= total_1d AND total_1d >= total_2d, 'snapshots', 'unknown') AS basis_24h,
  multiIf(basis_24h = 'trades', toNullable(day_sold), basis_24h = 'snapshots', volume_total - total_1d, NULL) AS sold_24h,
  multiIf(basis_24h = 'trades', toNullable(day_before), basis_24h = 'snapshots', total_1d - total_2d, NULL) AS sold_24h_before,
  multiIf(complete_from <= two_weeks, 'trades', volume_total >= total_7d AND total_7d >= total_14d, 'snapshots', 'unknown') AS basis_7d,
  multiIf(basis_7d = 'trades', toNullable(week_sold), basis_7d = 'snapshots', volume_total - total_7d, NULL) AS sold_7d,
  multiIf(basis_7d = 'trades', toNullable(week_before), basis_7d = 'snapshots', total_7d - total_14d, NULL) AS sold_7d_before,
  first_seen_at, liquidity_known, liquidity_usd,
  if(quiet_1d AND basis_day = 'unknown', 'reported', basis_day) AS volume_24h_usd_basis,
  if(quiet_1d, toDecimal64(0, 6), usd_amount(basis_day, day_usd, told_24h)) AS volume_24h_usd,
  if(quiet_7d AND basis_week = 'unknown', 'reported', basis_week) AS volume_7d_usd_basis,
  if(quiet_7d, toDecimal64(0, 6), usd_amount(basis_week, week_usd, told_7d)) AS volume_7d_usd,
  usd_basis(usd_from = ever, total_usd, in_usd, volume_total) AS volume_total_usd_basis, usd_amount(volume_total_usd_basis, total_usd, volume_total) AS volume_total_usd
FROM measured;
