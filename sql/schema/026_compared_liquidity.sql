-- Liquidity in USD has one basis on all platforms: the orders on the best level of each side. If a platform's own figure counts the whole
-- book, the best levels are read from the book.
ALTER TABLE market_state
  -- USD of collateral on the best levels, where liquidity counts the whole book; null until that was read.
  ADD COLUMN IF NOT EXISTS best_level Nullable(Decimal64(6)) AFTER liquidity,
  -- An empty book has no best level.
  ADD COLUMN IF NOT EXISTS liquidity_usd Nullable(Decimal64(6)) MATERIALIZED multiIf(
    JSONExtractString(metadata, 'liquidity_basis') != 'full_book', if(liquidity_known, toNullable(liquidity), NULL),
    liquidity = 0, toNullable(liquidity), best_level) AFTER liquidity_known;

-- Adds liquidity_usd. A closed or settled market has no volume in a window that begins after its last reading; the figure of that reading
-- stays stored. A market may close before the end of trading that its platform states.
-- The view is dropped first: a running refresh would replace this table by one without the new column.
DROP VIEW IF EXISTS market_windows_mv SYNC;
ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS liquidity_usd Nullable(Decimal64(6)) AFTER liquidity_known;
CREATE MATERIALIZED VIEW IF NOT EXISTS market_windows_mv REFRESH AFTER 5 MINUTE TO market_windows AS
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
          WHERE status = 'open' AND (market_key IN pools OR platform NOT IN (SELECT platform FROM feeds WHERE greatest(feed_from, gap_to) <= two_days AND feed_to >= instant - toIntervalMinute(15)))
        )
        AND ((seen <= day AND seen >= day - toIntervalHour(6)) OR (seen <= two_days AND seen >= two_days - toIntervalHour(6)))
      UNION ALL
      SELECT market_key, at AS seen, volume_total AS total FROM market_snapshots
      WHERE market_key IN (
          SELECT market_key FROM market_state FINAL
          WHERE status = 'open' AND (market_key IN pools OR platform NOT IN (SELECT platform FROM feeds WHERE greatest(feed_from, gap_to) <= two_weeks AND feed_to >= instant - toIntervalMinute(15)))
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
      greatest(f.gap_to, multiIf(c.own_to >= f.feed_from AND f.feed_to >= c.own_from, least(c.own_from, f.feed_from), c.own_to > f.feed_to, c.own_from, f.feed_from)) AS stored_from,
      multiIf(s.market_key IN pools OR greatest(c.own_to, f.feed_to) < instant - toIntervalMinute(15), never, ifNull(born >= stored_from, 0), ever, stored_from) AS complete_from,
      -- A span made of the spans of markets says nothing about a market without a span.
      greatest(f.gap_to, c.own_from) AS own_stored_from,
      multiIf(NOT f.of_markets OR complete_from = never, complete_from, c.own_to <= ever, never, ifNull(born >= own_stored_from, 0), ever, own_stored_from) AS usd_from,
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
  prices[1] AS price, prices[2] AS other_price, asks[1] - bids[1] AS spread, price_change_24h, price_change_7d, liquidity, open_interest, volume_total,
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
FROM measured
SETTINGS max_threads = 1, join_use_nulls = 0;

-- With liquidity_usd, and without volumes of such windows.
CREATE OR REPLACE VIEW v_markets (
  market_key UInt64 COMMENT 'Joins to the other views',
  market_id String COMMENT 'The platform’s id, as platform_id',
  id String COMMENT 'Unified id as in the API: <platform>:<platform_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  platform_id String COMMENT 'Kalshi ticker, Polymarket Gamma id, Limitless slug',
  ref String COMMENT 'What trades name the market by: Kalshi ticker, Polymarket condition id, Limitless slug',
  title String COMMENT 'Question or name',
  outcome_name Nullable(String) COMMENT 'Which of its event’s markets it is: a team, a person, a range; null where it has no such name',
  is_placeholder Bool COMMENT 'Kept by the platform for a market to come, and hidden there',
  is_combo Bool COMMENT 'A bet on several markets at once',
  status LowCardinality(String) COMMENT 'unopened, open, paused, closed or settled',
  market_type LowCardinality(String) COMMENT 'binary, multiple_choice or scalar',
  outcomes Array(String) COMMENT 'Names in the order of the platform; prices are of the first',
  outcome_names Array(String) COMMENT 'As outcomes',
  winning_outcome Nullable(String) COMMENT 'Name of the outcome that pays 1; null until settled, and where none does',
  slug String COMMENT 'The platform’s name of the market in its addresses; empty where it has none',
  rules String COMMENT 'How the market is resolved, as worded by the platform; empty where it words nothing',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  subcategory Nullable(String) COMMENT 'As the platform names it',
  tags Array(LowCardinality(String)) COMMENT 'As the platform names them',
  event_id String COMMENT 'Event the market belongs to',
  event_name String COMMENT 'Name of the event',
  series_id String COMMENT 'Series of the event; empty where there is none',
  price Nullable(Decimal(38, 10)) COMMENT 'Of the first outcome; the payout once settled',
  bid Nullable(Decimal(38, 10)) COMMENT 'Best bid of the first outcome; null unless open',
  ask Nullable(Decimal(38, 10)) COMMENT 'Best ask of the first outcome; null unless open',
  spread Nullable(Decimal(38, 10)) COMMENT 'ask - bid',
  volume_24h Nullable(Decimal(38, 6)) COMMENT 'By the platform: USD, contracts on Kalshi; 0 once the market was over for a day',
  volume_7d Nullable(Decimal(38, 6)) COMMENT 'As volume_24h; 0 once the market was over for 7 days',
  volume_total Nullable(Decimal(38, 6)) COMMENT 'By the platform: USD, contracts on Kalshi',
  volume_24h_usd Nullable(Decimal(38, 6)) COMMENT 'USD: of stored trades where all of the window are, else by the platform where it is USD or 0, else null; of the instant usd_as_of',
  volume_24h_usd_basis Nullable(String) COMMENT 'traded or reported; null where the amount is',
  volume_7d_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_7d_usd_basis Nullable(String) COMMENT 'As volume_24h_usd_basis',
  volume_total_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_total_usd_basis Nullable(String) COMMENT 'As volume_24h_usd_basis',
  usd_as_of Nullable(DateTime64(3, 'UTC')) COMMENT 'Instant of the volumes in USD, some minutes ago at most; null, as these are, of placeholders, combinations and what was listed since',
  liquidity Nullable(Decimal(38, 6)) COMMENT 'USD of collateral at rest; null until the book of an open market has been read',
  liquidity_usd Nullable(Decimal(38, 6)) COMMENT 'USD of collateral on the best level of each side, of a pool as liquidity; null until the book of an open market has been read',
  liquidity_usd_basis Nullable(String) COMMENT 'best_level, or amm for a pool; null where the amount is, and where nothing rests',
  open_interest Nullable(Decimal(38, 6)) COMMENT 'Contracts on Kalshi, USD elsewhere',
  price_change_24h Nullable(Decimal(38, 10)) COMMENT 'Of the first outcome, in price',
  price_change_7d Nullable(Decimal(38, 10)) COMMENT 'Of the first outcome, in price',
  created_at Nullable(DateTime64(3, 'UTC')) COMMENT 'By the platform',
  trading_end_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When trading ends',
  resolution_date Nullable(DateTime64(3, 'UTC')) COMMENT 'Expected resolution',
  resolved_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When it was settled',
  source_url String COMMENT 'Page of the market on its platform',
  external_provider Nullable(String) COMMENT 'Platform whose market this one copies; null where it copies none',
  external_slug Nullable(String) COMMENT 'Slug of that market there; null where it copies none',
  first_seen_at DateTime64(3, 'UTC') COMMENT 'When this service first saw it',
  time DateTime64(3, 'UTC') COMMENT 'As synced_at',
  synced_at DateTime64(3, 'UTC') COMMENT 'When the platform said what stands here'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS WITH (days, volume) -> if(s.status IN ('closed', 'settled') AND s.synced_at <= now64(3, 'UTC') - toIntervalDay(days), toDecimal64(0, 6), volume) AS rolling
SELECT m.market_key AS market_key, m.platform_id AS market_id, concat(m.platform, ':', m.platform_id) AS id, m.platform AS platform, m.platform_id AS platform_id, m.ref AS ref,
  m.title AS title,
  nullIf(trimBoth(replaceAll(if(JSONExtractString(m.metadata, 'group_item_title') != '', JSONExtractString(m.metadata, 'group_item_title'),
    if(match(JSONExtractString(m.metadata, 'yes_sub_title'), '(?i)^(yes|no)$'), '', JSONExtractString(m.metadata, 'yes_sub_title'))), '**', '')), '') AS outcome_name,
  JSONExtractBool(m.metadata, 'neg_risk_other') AS is_placeholder, JSONExtractBool(m.metadata, 'is_combo') AS is_combo,
  s.status AS status, m.market_type AS market_type, m.outcome_names AS outcomes, m.outcome_names AS outcome_names,
  if(s.status = 'settled', nullIf(m.outcome_names[indexOf(s.prices, toDecimal64(1, 10))], ''), NULL) AS winning_outcome, m.slug AS slug, m.resolution_criteria AS rules,
  m.category AS category, m.subcategory AS subcategory, m.tags AS tags, m.event_id AS event_id, m.event_name AS event_name, m.series_id AS series_id,
  toDecimal128(s.prices[1], 10) AS price, toDecimal128(s.bids[1], 10) AS bid, toDecimal128(s.asks[1], 10) AS ask, toDecimal128(s.asks[1] - s.bids[1], 10) AS spread,
  toDecimal128(rolling(1, s.volume_24h), 6) AS volume_24h, toDecimal128(rolling(7, s.volume_7d), 6) AS volume_7d, toDecimal128(s.volume_total, 6) AS volume_total,
  toDecimal128(dictGetOrNull('market_amounts', 'volume_24h_usd', m.market_key), 6) AS volume_24h_usd, nullIf(dictGetOrNull('market_amounts', 'volume_24h_usd_basis', m.market_key), 'unknown') AS volume_24h_usd_basis,
  toDecimal128(dictGetOrNull('market_amounts', 'volume_7d_usd', m.market_key), 6) AS volume_7d_usd, nullIf(dictGetOrNull('market_amounts', 'volume_7d_usd_basis', m.market_key), 'unknown') AS volume_7d_usd_basis,
  toDecimal128(dictGetOrNull('market_amounts', 'volume_total_usd', m.market_key), 6) AS volume_total_usd, nullIf(dictGetOrNull('market_amounts', 'volume_total_usd_basis', m.market_key), 'unknown') AS volume_total_usd_basis,
  dictGetOrNull('market_amounts', 'as_of', m.market_key) AS usd_as_of,
  toDecimal128(if(s.liquidity_known, toNullable(s.liquidity), NULL), 6) AS liquidity, toDecimal128(s.liquidity_usd, 6) AS liquidity_usd,
  if(isNull(s.liquidity_usd), NULL, nullIf(nullIf(replaceOne(JSONExtractString(s.metadata, 'liquidity_basis'), 'full_book', 'best_level'), ''), 'none')) AS liquidity_usd_basis, toDecimal128(s.open_interest, 6) AS open_interest,
  toDecimal128(s.price_change_24h, 10) AS price_change_24h, toDecimal128(s.price_change_7d, 10) AS price_change_7d,
  m.created_at AS created_at, m.trading_end_at AS trading_end_at, m.resolution_date AS resolution_date, s.resolved_at AS resolved_at,
  m.source_url AS source_url,
  nullIf(JSONExtractString(m.metadata, 'external_provider'), '') AS external_provider, nullIf(JSONExtractString(m.metadata, 'external_slug'), '') AS external_slug,
  m.first_seen_at AS first_seen_at, s.synced_at AS time, s.synced_at AS synced_at
FROM markets AS m FINAL INNER JOIN market_state AS s FINAL ON s.platform = m.platform AND s.market_key = m.market_key
COMMENT 'Every market with its latest state, one row each';

CREATE OR REPLACE VIEW v_events (
  id String COMMENT 'Unified id as in the API: <platform>:<event_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  event_id String COMMENT 'Joins to v_markets, with platform',
  series_id String COMMENT 'Joins to v_series, with platform; empty where there is none',
  title String COMMENT 'As worded by the platform',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  tags Array(LowCardinality(String)) COMMENT 'As the platform names them',
  status LowCardinality(String) COMMENT 'open when a market of it is open, else paused, unopened, closed or settled, whichever one has first',
  markets_count UInt64 COMMENT 'Stored markets without placeholders and combinations',
  open_markets UInt64 COMMENT 'Of these open',
  volume_24h Nullable(Decimal(38, 6)) COMMENT 'Sum over its markets, as in v_markets: USD, contracts on Kalshi; null when not known for every market',
  volume_total Nullable(Decimal(38, 6)) COMMENT 'As volume_24h',
  liquidity Nullable(Decimal(38, 6)) COMMENT 'Sum over its markets, USD of collateral at rest; null when not known for every market',
  volume_24h_usd Nullable(Decimal(38, 6)) COMMENT 'USD: sum over those of its markets whose amount is known, as in v_markets; null where none is',
  volume_7d_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_total_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  liquidity_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  usd_markets Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64) COMMENT 'Of markets_count, how many are in each of these sums',
  mutually_exclusive Nullable(Bool) COMMENT 'Whether at most one market can pay; null when the platform does not say',
  time DateTime64(3, 'UTC') COMMENT 'When the newest of its figures was read',
  trading_end_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the last market ends; null when not known for every market',
  source_url String COMMENT 'Page of the event on its platform'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat(e.platform, ':', e.event_id) AS id, e.platform AS platform, e.event_id AS event_id, e.series_id AS series_id, e.title AS title,
  e.category AS category, e.tags AS tags, m.status AS status, m.markets_count AS markets_count, m.open_markets AS open_markets,
  m.volume_24h AS volume_24h, m.volume_total AS volume_total, m.liquidity AS liquidity,
  m.volume_24h_usd AS volume_24h_usd, m.volume_7d_usd AS volume_7d_usd, m.volume_total_usd AS volume_total_usd, m.liquidity_usd AS liquidity_usd,
  CAST((m.known_24h, m.known_7d, m.known_total, m.known_liquidity) AS Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64)) AS usd_markets, e.mutually_exclusive AS mutually_exclusive,
  m.synced_at AS time, m.trading_end_at AS trading_end_at, e.source_url AS source_url
FROM events AS e FINAL
INNER JOIN (
  WITH if(s.status IN ('closed', 'settled') AND s.synced_at <= now64(3, 'UTC') - toIntervalDay(1), toDecimal64(0, 6), s.volume_24h) AS day_volume
  SELECT platform, event_id, count() AS markets_count, countIf(s.status = 'open') AS open_markets,
    multiIf(open_markets > 0, 'open', countIf(s.status = 'paused') > 0, 'paused', countIf(s.status = 'unopened') > 0, 'unopened',
      countIf(s.status = 'closed') > 0, 'closed', 'settled') AS status,
    if(count(day_volume) = count(), sum(toDecimal128(day_volume, 6)), NULL) AS volume_24h,
    if(count(s.volume_total) = count(), sum(toDecimal128(s.volume_total, 6)), NULL) AS volume_total,
    if(countIf(NOT s.liquidity_known) = 0, toNullable(sum(toDecimal128(s.liquidity, 6))), NULL) AS liquidity,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_24h_usd', s.market_key), 6)) AS volume_24h_usd, count(dictGetOrNull('market_amounts', 'volume_24h_usd', s.market_key)) AS known_24h,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_7d_usd', s.market_key), 6)) AS volume_7d_usd, count(dictGetOrNull('market_amounts', 'volume_7d_usd', s.market_key)) AS known_7d,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_total_usd', s.market_key), 6)) AS volume_total_usd, count(dictGetOrNull('market_amounts', 'volume_total_usd', s.market_key)) AS known_total,
    sumOrNull(toDecimal128(s.liquidity_usd, 6)) AS liquidity_usd, count(s.liquidity_usd) AS known_liquidity,
    if(count(s.trading_end_at) = count(), max(s.trading_end_at), NULL) AS trading_end_at,
    max(s.synced_at) AS synced_at
  FROM market_state AS s FINAL WHERE event_id != '' AND NOT is_placeholder AND NOT is_combo GROUP BY platform, event_id
) AS m ON m.platform = e.platform AND m.event_id = e.event_id
COMMENT 'Every event with a stored market, with sums over its markets; placeholders and combinations are left out';

CREATE OR REPLACE VIEW v_categories (
  category LowCardinality(String) COMMENT 'As in v_markets; empty where the platform names none',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  markets_count UInt64 COMMENT 'Listed markets without placeholders and combinations',
  open_markets UInt64 COMMENT 'Of these open',
  volume_24h_usd Nullable(Decimal(38, 6)) COMMENT 'USD: sum over those of its markets whose amount is known, as in v_markets; null where none is',
  volume_7d_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_total_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  liquidity_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  usd_markets Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64) COMMENT 'Of markets_count, how many are in each of these sums',
  spread Nullable(Decimal(38, 10)) COMMENT 'Mean of ask - bid over the open markets with both; null where there is none',
  time DateTime64(3, 'UTC') COMMENT 'Instant of these figures, at most five minutes ago'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT category, platform, count() AS markets_count, countIf(status = 'open') AS open_markets,
  sumOrNull(toDecimal128(w.volume_24h_usd, 6)) AS volume_24h_usd, sumOrNull(toDecimal128(w.volume_7d_usd, 6)) AS volume_7d_usd,
  sumOrNull(toDecimal128(w.volume_total_usd, 6)) AS volume_total_usd, sumOrNull(toDecimal128(w.liquidity_usd, 6)) AS liquidity_usd,
  CAST((count(w.volume_24h_usd), count(w.volume_7d_usd), count(w.volume_total_usd), count(w.liquidity_usd)) AS Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64)) AS usd_markets,
  sumOrNullIf(toDecimal128(w.spread, 10), status = 'open' AND isNotNull(w.spread)) / nullIf(countIf(status = 'open' AND isNotNull(w.spread)), 0) AS spread, max(as_of) AS time
FROM market_windows AS w GROUP BY category, platform
COMMENT 'Categories on each platform, with sums over their markets'
