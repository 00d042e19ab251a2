-- Every decimal is wide: prices, sizes and money of any stored rows multiply without an overflow. Every view has its time as time; the
-- older names stay.
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
  volume_24h Nullable(Decimal(38, 6)) COMMENT 'By the platform: USD, contracts on Kalshi',
  volume_7d Nullable(Decimal(38, 6)) COMMENT 'As volume_24h',
  volume_total Nullable(Decimal(38, 6)) COMMENT 'As volume_24h',
  volume_24h_usd Nullable(Decimal(38, 6)) COMMENT 'USD: of stored trades where all of the window are, else by the platform where it is USD or 0, else null; of the instant usd_as_of',
  volume_24h_usd_basis Nullable(String) COMMENT 'traded or reported; null where the amount is',
  volume_7d_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_7d_usd_basis Nullable(String) COMMENT 'As volume_24h_usd_basis',
  volume_total_usd Nullable(Decimal(38, 6)) COMMENT 'As volume_24h_usd',
  volume_total_usd_basis Nullable(String) COMMENT 'As volume_24h_usd_basis',
  usd_as_of Nullable(DateTime64(3, 'UTC')) COMMENT 'Instant of the volumes in USD, some minutes ago at most; null, as these are, of placeholders, combinations and what was listed since',
  liquidity Nullable(Decimal(38, 6)) COMMENT 'USD of collateral at rest; null until the book of an open market has been read',
  liquidity_usd Nullable(Decimal(38, 6)) COMMENT 'As liquidity',
  liquidity_usd_basis Nullable(String) COMMENT 'Which part of the book counts: best_level, full_book or amm; null where the amount is',
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
AS SELECT m.market_key AS market_key, m.platform_id AS market_id, concat(m.platform, ':', m.platform_id) AS id, m.platform AS platform, m.platform_id AS platform_id, m.ref AS ref,
  m.title AS title,
  nullIf(trimBoth(replaceAll(if(JSONExtractString(m.metadata, 'group_item_title') != '', JSONExtractString(m.metadata, 'group_item_title'),
    if(match(JSONExtractString(m.metadata, 'yes_sub_title'), '(?i)^(yes|no)$'), '', JSONExtractString(m.metadata, 'yes_sub_title'))), '**', '')), '') AS outcome_name,
  JSONExtractBool(m.metadata, 'neg_risk_other') AS is_placeholder, JSONExtractBool(m.metadata, 'is_combo') AS is_combo,
  s.status AS status, m.market_type AS market_type, m.outcome_names AS outcomes, m.outcome_names AS outcome_names,
  if(s.status = 'settled', nullIf(m.outcome_names[indexOf(s.prices, toDecimal64(1, 10))], ''), NULL) AS winning_outcome, m.slug AS slug, m.resolution_criteria AS rules,
  m.category AS category, m.subcategory AS subcategory, m.tags AS tags, m.event_id AS event_id, m.event_name AS event_name, m.series_id AS series_id,
  toDecimal128(s.prices[1], 10) AS price, toDecimal128(s.bids[1], 10) AS bid, toDecimal128(s.asks[1], 10) AS ask, toDecimal128(s.asks[1] - s.bids[1], 10) AS spread,
  toDecimal128(s.volume_24h, 6) AS volume_24h, toDecimal128(s.volume_7d, 6) AS volume_7d, toDecimal128(s.volume_total, 6) AS volume_total,
  toDecimal128(dictGetOrNull('market_amounts', 'volume_24h_usd', m.market_key), 6) AS volume_24h_usd, nullIf(dictGetOrNull('market_amounts', 'volume_24h_usd_basis', m.market_key), 'unknown') AS volume_24h_usd_basis,
  toDecimal128(dictGetOrNull('market_amounts', 'volume_7d_usd', m.market_key), 6) AS volume_7d_usd, nullIf(dictGetOrNull('market_amounts', 'volume_7d_usd_basis', m.market_key), 'unknown') AS volume_7d_usd_basis,
  toDecimal128(dictGetOrNull('market_amounts', 'volume_total_usd', m.market_key), 6) AS volume_total_usd, nullIf(dictGetOrNull('market_amounts', 'volume_total_usd_basis', m.market_key), 'unknown') AS volume_total_usd_basis,
  dictGetOrNull('market_amounts', 'as_of', m.market_key) AS usd_as_of,
  toDecimal128(if(s.liquidity_known, toNullable(s.liquidity), NULL), 6) AS liquidity, toDecimal128(if(s.liquidity_known, toNullable(s.liquidity), NULL), 6) AS liquidity_usd,
  if(s.liquidity_known, nullIf(nullIf(JSONExtractString(s.metadata, 'liquidity_basis'), ''), 'none'), NULL) AS liquidity_usd_basis, toDecimal128(s.open_interest, 6) AS open_interest,
  toDecimal128(s.price_change_24h, 10) AS price_change_24h, toDecimal128(s.price_change_7d, 10) AS price_change_7d,
  m.created_at AS created_at, m.trading_end_at AS trading_end_at, m.resolution_date AS resolution_date, s.resolved_at AS resolved_at,
  m.source_url AS source_url,
  nullIf(JSONExtractString(m.metadata, 'external_provider'), '') AS external_provider, nullIf(JSONExtractString(m.metadata, 'external_slug'), '') AS external_slug,
  m.first_seen_at AS first_seen_at, s.synced_at AS time, s.synced_at AS synced_at
FROM markets AS m FINAL INNER JOIN market_state AS s FINAL ON s.platform = m.platform AND s.market_key = m.market_key
COMMENT 'Every market with its latest state, one row each';

CREATE OR REPLACE VIEW v_market_stats (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  trades Int64 COMMENT 'Stored trades',
  volume Decimal(38, 6) COMMENT 'Contracts of stored trades',
  notional Decimal(38, 6) COMMENT 'USD of stored trades',
  traders UInt64 COMMENT 'Distinct takers of stored trades; 0 where the platform names none',
  time DateTime64(6, 'UTC') COMMENT 'As last_trade_at',
  first_trade_at DateTime64(6, 'UTC') COMMENT 'Oldest stored trade',
  last_trade_at DateTime64(6, 'UTC') COMMENT 'Newest stored trade',
  as_of Nullable(DateTime64(3, 'UTC')) COMMENT 'Instant of what follows; null for a market that is not listed yet',
  sold_24h Nullable(Decimal(38, 6)) COMMENT 'Sold in the 24 h before as_of: USD, contracts on Kalshi; null when not known for this window and the one before',
  sold_24h_before Nullable(Decimal(38, 6)) COMMENT 'Sold in the 24 h before those',
  sold_7d Nullable(Decimal(38, 6)) COMMENT 'As sold_24h, over 7 days',
  sold_7d_before Nullable(Decimal(38, 6)) COMMENT 'Sold in the 7 days before those'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT t.market_key AS market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(t.market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(t.market_key)) AS title, t.platform AS platform, t.trades AS trades, toDecimal128(t.volume, 6) AS volume, toDecimal128(t.notional, 6) AS notional, t.traders AS traders,
  t.last_trade_at AS time, t.first_trade_at AS first_trade_at, t.last_trade_at AS last_trade_at,
  if(w.as_of > toDateTime64(0, 3, 'UTC'), toNullable(w.as_of), NULL) AS as_of,
  toDecimal128(w.sold_24h, 6) AS sold_24h, toDecimal128(w.sold_24h_before, 6) AS sold_24h_before,
  toDecimal128(w.sold_7d, 6) AS sold_7d, toDecimal128(w.sold_7d_before, 6) AS sold_7d_before
FROM (
  SELECT market_key, any(platform) AS platform, sum(n) AS trades, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, uniqExactIfMerge(traders) AS traders,
    min(first_trade_at) AS first_trade_at, max(last_trade_at) AS last_trade_at
  FROM market_totals GROUP BY market_key
) AS t
LEFT JOIN market_windows AS w ON w.market_key = t.market_key
COMMENT 'What the stored trades of each market add up to, one row a traded market';

CREATE OR REPLACE VIEW v_quotes (
  market_key UInt64 COMMENT 'Joins to v_markets',
  market_id LowCardinality(Nullable(String)) COMMENT 'The platform’s id, as in v_markets; null until the market is listed, for a minute after that too',
  title LowCardinality(Nullable(String)) COMMENT 'Question or name of the market; null where market_id is',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  time DateTime64(3, 'UTC') COMMENT 'When the platform said so: at every change a sweep saw, and every few minutes',
  at DateTime64(3, 'UTC') COMMENT 'As time',
  status LowCardinality(String) COMMENT 'As in v_markets',
  price Nullable(Decimal(38, 10)) COMMENT 'Of the first outcome',
  bid Nullable(Decimal(38, 10)) COMMENT 'Best bid of the first outcome',
  ask Nullable(Decimal(38, 10)) COMMENT 'Best ask of the first outcome',
  spread Nullable(Decimal(38, 10)) COMMENT 'ask - bid',
  volume_total Nullable(Decimal(38, 6)) COMMENT 'By the platform: USD, contracts on Kalshi',
  liquidity Nullable(Decimal(38, 6)) COMMENT 'As in v_markets',
  open_interest Nullable(Decimal(38, 6)) COMMENT 'Contracts on Kalshi, USD elsewhere'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, dictGetOrNull('market_names', 'market_id', toLowCardinality(market_key)) AS market_id, dictGetOrNull('market_names', 'title', toLowCardinality(market_key)) AS title, platform, at AS time, at, status, toDecimal128(price, 10) AS price, toDecimal128(bid, 10) AS bid, toDecimal128(ask, 10) AS ask,
  ask - bid AS spread, toDecimal128(volume_total, 6) AS volume_total, toDecimal128(if(liquidity_known, toNullable(liquidity), NULL), 6) AS liquidity,
  toDecimal128(open_interest, 6) AS open_interest
FROM market_snapshots FINAL
COMMENT 'Quotes and totals of markets over time';

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
  volume_24h Nullable(Decimal(38, 6)) COMMENT 'Sum over its markets: USD, contracts on Kalshi; null when not known for every market',
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
  SELECT platform, event_id, count() AS markets_count, countIf(s.status = 'open') AS open_markets,
    multiIf(open_markets > 0, 'open', countIf(s.status = 'paused') > 0, 'paused', countIf(s.status = 'unopened') > 0, 'unopened',
      countIf(s.status = 'closed') > 0, 'closed', 'settled') AS status,
    if(count(s.volume_24h) = count(), sum(toDecimal128(s.volume_24h, 6)), NULL) AS volume_24h,
    if(count(s.volume_total) = count(), sum(toDecimal128(s.volume_total, 6)), NULL) AS volume_total,
    if(countIf(NOT s.liquidity_known) = 0, toNullable(sum(toDecimal128(s.liquidity, 6))), NULL) AS liquidity,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_24h_usd', s.market_key), 6)) AS volume_24h_usd, count(dictGetOrNull('market_amounts', 'volume_24h_usd', s.market_key)) AS known_24h,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_7d_usd', s.market_key), 6)) AS volume_7d_usd, count(dictGetOrNull('market_amounts', 'volume_7d_usd', s.market_key)) AS known_7d,
    sumOrNull(toDecimal128(dictGetOrNull('market_amounts', 'volume_total_usd', s.market_key), 6)) AS volume_total_usd, count(dictGetOrNull('market_amounts', 'volume_total_usd', s.market_key)) AS known_total,
    sumOrNullIf(toDecimal128(s.liquidity, 6), s.liquidity_known) AS liquidity_usd, countIf(s.liquidity_known) AS known_liquidity,
    if(count(s.trading_end_at) = count(), max(s.trading_end_at), NULL) AS trading_end_at,
    max(s.synced_at) AS synced_at
  FROM market_state AS s FINAL WHERE event_id != '' AND NOT is_placeholder AND NOT is_combo GROUP BY platform, event_id
) AS m ON m.platform = e.platform AND m.event_id = e.event_id
COMMENT 'Every event with a stored market, with sums over its markets; placeholders and combinations are left out';

CREATE OR REPLACE VIEW v_series (
  id String COMMENT 'Unified id as in the API: <platform>:<series_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  series_id String COMMENT 'Joins to v_events and v_markets, with platform',
  title String COMMENT 'As worded by the platform; empty where it words none',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  frequency Nullable(String) COMMENT 'How often it recurs, as worded by the platform; null when it does not say',
  time DateTime64(3, 'UTC') COMMENT 'When its description changed last',
  events_count UInt64 COMMENT 'Stored events',
  open_events UInt64 COMMENT 'Of these with an open market'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT concat(r.platform, ':', r.series_id) AS id, r.platform AS platform, r.series_id AS series_id, r.title AS title, r.category AS category,
  r.frequency AS frequency, r.version AS time, e.events_count AS events_count, e.open_events AS open_events
FROM series AS r FINAL
LEFT JOIN (
  SELECT e.platform AS platform, e.series_id AS series_id, count() AS events_count, countIf(m.is_open) AS open_events
  FROM events AS e FINAL
  INNER JOIN (
    SELECT platform, event_id, max(status = 'open') AS is_open FROM market_state FINAL WHERE event_id != '' AND NOT is_placeholder AND NOT is_combo GROUP BY platform, event_id
  ) AS m ON m.platform = e.platform AND m.event_id = e.event_id
  WHERE e.series_id != ''
  GROUP BY platform, series_id
) AS e ON e.platform = r.platform AND e.series_id = r.series_id
COMMENT 'Every series, with its events';

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
  sumOrNull(toDecimal128(w.volume_total_usd, 6)) AS volume_total_usd, sumOrNullIf(toDecimal128(w.liquidity, 6), liquidity_known) AS liquidity_usd,
  CAST((count(w.volume_24h_usd), count(w.volume_7d_usd), count(w.volume_total_usd), countIf(liquidity_known)) AS Tuple(volume_24h UInt64, volume_7d UInt64, volume_total UInt64, liquidity UInt64)) AS usd_markets,
  sumOrNullIf(toDecimal128(w.spread, 10), status = 'open' AND isNotNull(w.spread)) / nullIf(countIf(status = 'open' AND isNotNull(w.spread)), 0) AS spread, max(as_of) AS time
FROM market_windows AS w GROUP BY category, platform
COMMENT 'Categories on each platform, with sums over their markets'
