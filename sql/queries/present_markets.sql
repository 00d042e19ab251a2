-- present: markets as they are copied to PostgreSQL, by reference; a market without a state is not listed yet
-- Volumes in USD: the stored notional of (now − W, now] where every trade of it is stored, exact to the microsecond, else the platform's
-- own figure where it is USD or 0.
WITH arrayMap((platform, ref) -> sipHash64(platform, ref), {platforms:Array(String)}, {refs:Array(String)}) AS keys,
  now64(6, 'UTC') AS instant, instant - toIntervalDay(1) AS day, instant - toIntervalDay(7) AS week, [toStartOfHour(day), toStartOfHour(week)] AS edges,
  toDateTime64(0, 6, 'UTC') AS ever, toDateTime64('2200-01-01 00:00:00', 6, 'UTC') AS never,
  (SELECT groupArray(toString(platform)) FROM platforms FINAL WHERE volume_basis = 'usd') AS in_usd,
  (
    SELECT mapFromArrays(groupArray(toString(platform)), groupArray((complete_from, complete_to, marker = 'each market')))
    FROM trade_coverage FINAL WHERE platform IN {platforms:Array(String)} AND market_key = 0
  ) AS feeds,
  (
    SELECT mapFromArrays(groupArray(name), groupArray(ended))
    FROM (SELECT toString(platform) AS name, max(gap_to) AS ended FROM trade_gaps FINAL WHERE filled = 0 GROUP BY name)
  ) AS gaps,
  feeds[toString(m.platform)] AS feed,
  -- The span of the feed and that of the market, joined if they touch.
  multiIf(JSONExtractString(info_metadata, 'trade_type') = 'amm' OR greatest(feed.2, own_to) < instant - toIntervalMinute(15), never,
    feed.3, if(own_to > ever, own_from, never),
    own_to >= feed.1 AND feed.2 >= own_from AND own_to > ever, least(own_from, feed.1), own_to > feed.2, own_from, feed.1) AS span_from,
  greatest(span_from, gaps[toString(m.platform)]) AS stored_from,
  if(ifNull(coalesce(trading_start_at, declared_at) >= stored_from, 0), ever, stored_from) AS complete_from,
  -- If the platform reports volume and no trade is stored, no feed has the market's trades.
  (complete, traded, figure) -> multiIf(complete AND (traded > 0 OR ifNull(figure, toDecimal64(0, 6)) = 0), 'traded', has(in_usd, toString(m.platform)) AND isNotNull(figure) OR figure = 0, 'reported', '') AS basis_of,
  (basis, traded, figure) -> multiIf(basis = 'traded', toNullable(traded), basis = 'reported', figure, NULL) AS amount_of
SELECT reinterpretAsInt64(bitXor(market_key, 9223372036854775808)) AS key, m.* EXCEPT (declared_at), s.*, reinterpretAsInt64(q.texts) AS texts, trades, unique_traders, traded_since,
  basis_of(complete_from <= day, day_notional, s.volume_24h) AS volume_24h_usd_basis, amount_of(volume_24h_usd_basis, day_notional, s.volume_24h) AS volume_24h_usd,
  basis_of(complete_from <= week, week_notional, s.volume_7d) AS volume_7d_usd_basis, amount_of(volume_7d_usd_basis, week_notional, s.volume_7d) AS volume_7d_usd,
  basis_of(complete_from = ever, total_notional, s.volume_total) AS volume_total_usd_basis, amount_of(volume_total_usd_basis, total_notional, s.volume_total) AS volume_total_usd
FROM (
  SELECT platform, market_key, ref, platform_id, slug, title, market_type, outcome_ids, outcome_names, token_ids, event_id, event_name, series_id,
    description, category, subcategory, tags, source_url, image_url, i.created_at AS declared_at, ifNull(i.created_at, first_seen_at) AS created_at, trading_start_at,
    trading_end_at, resolution_date, resolution_criteria, resolution_source, metadata AS info_metadata, first_seen_at, version AS info_version
  -- A bare created_at would be the column of this list.
  FROM markets AS i FINAL PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
) AS m
INNER JOIN (
  SELECT market_key, status, prices, bids, asks, synced_at, volume_24h, volume_7d, volume_30d, volume_1y, volume_total, liquidity, open_interest, resolved_at,
    price_change_24h, price_change_7d, metadata AS state_metadata, written_at, category_slug, event_id AS listed_event, liquidity_known, liquidity_usd,
    trading_end_at AS listed_end, created_at AS listed_created, is_placeholder, is_combo
  FROM market_state FINAL PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
) AS s USING (market_key)
LEFT JOIN (
  SELECT market_key, texts FROM market_questions FINAL PREWHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
) AS q USING (market_key)
LEFT JOIN (
  SELECT market_key, sum(n) AS trades, uniqExactIfMerge(traders) AS unique_traders, toDateTime64(min(first_trade_at), 3, 'UTC') AS traded_since, toDecimal64(sumWithOverflow(q), 6) AS total_notional
  FROM market_totals WHERE market_key IN (SELECT arrayJoin(keys)) GROUP BY market_key
) AS t USING (market_key)
LEFT JOIN (
  SELECT market_key, toDecimal64(sumIf(q, at > day), 6) AS day_notional, toDecimal64(sumIf(q, at > week), 6) AS week_notional
  FROM (
    SELECT market_key, toDateTime64(t, 6, 'UTC') AS at, q FROM candles_1h
    WHERE market_key IN (SELECT arrayJoin(keys)) AND t > toStartOfHour(week) AND NOT has(edges, t)
    UNION ALL
    SELECT market_key, executed_at, notional FROM (
      SELECT market_key, executed_at, notional FROM trades
      WHERE market_key IN (SELECT arrayJoin(keys)) AND executed_at >= toStartOfHour(week) AND has(edges, toStartOfHour(executed_at))
      LIMIT 1 BY market_key, executed_at, trade_order, tx_hash, id_bytes
    )
  )
  GROUP BY market_key
) AS n USING (market_key)
LEFT JOIN (
  SELECT market_key, complete_from AS own_from, complete_to AS own_to
  FROM trade_coverage FINAL WHERE platform IN {platforms:Array(String)} AND market_key IN (SELECT arrayJoin(keys))
) AS c USING (market_key)
