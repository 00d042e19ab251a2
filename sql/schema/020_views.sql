-- The public views: what analysts and dashboards read, on SQL_PORT as on a server. Columns are only ever added.
-- Prices are 0..1, sizes are contracts, money is USD, times are UTC; null means unknown. market_key joins the views.
-- A definer, so that a user of a server needs no right to the tables behind.
CREATE OR REPLACE VIEW v_markets (
  market_key UInt64 COMMENT 'Joins to the other views',
  id String COMMENT 'Unified id as in the API: <platform>:<platform_id>',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  platform_id String COMMENT 'Kalshi ticker, Polymarket Gamma id, Limitless slug',
  ref String COMMENT 'What trades name the market by: Kalshi ticker, Polymarket condition id, Limitless slug',
  title String COMMENT 'Question or name',
  status LowCardinality(String) COMMENT 'unopened, open, paused, closed or settled',
  market_type LowCardinality(String) COMMENT 'binary, multiple_choice or scalar',
  outcomes Array(String) COMMENT 'Names in the order of the platform; prices are of the first',
  category LowCardinality(String) COMMENT 'One vocabulary over the platforms; empty when the platform names none',
  subcategory Nullable(String) COMMENT 'As the platform names it',
  tags Array(LowCardinality(String)) COMMENT 'As the platform names them',
  event_id String COMMENT 'Event the market belongs to',
  event_name String COMMENT 'Name of the event',
  series_id String COMMENT 'Series of the event; empty where there is none',
  price Nullable(Decimal64(10)) COMMENT 'Of the first outcome; the payout once settled',
  bid Nullable(Decimal64(10)) COMMENT 'Best bid of the first outcome; null unless open',
  ask Nullable(Decimal64(10)) COMMENT 'Best ask of the first outcome; null unless open',
  spread Nullable(Decimal64(10)) COMMENT 'ask - bid',
  volume_24h Nullable(Decimal64(6)) COMMENT 'By the platform: USD, contracts on Kalshi',
  volume_7d Nullable(Decimal64(6)) COMMENT 'As volume_24h',
  volume_total Nullable(Decimal64(6)) COMMENT 'As volume_24h',
  liquidity Decimal64(6) COMMENT 'USD of collateral at rest',
  open_interest Nullable(Decimal64(6)) COMMENT 'Contracts on Kalshi, USD elsewhere',
  price_change_24h Nullable(Decimal64(10)) COMMENT 'Of the first outcome, in price',
  price_change_7d Nullable(Decimal64(10)) COMMENT 'Of the first outcome, in price',
  created_at Nullable(DateTime64(3, 'UTC')) COMMENT 'By the platform',
  trading_end_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When trading ends',
  resolution_date Nullable(DateTime64(3, 'UTC')) COMMENT 'Expected resolution',
  resolved_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When it was settled',
  source_url String COMMENT 'Page of the market on its platform',
  first_seen_at DateTime64(3, 'UTC') COMMENT 'When this service first saw it',
  synced_at DateTime64(3, 'UTC') COMMENT 'When the platform said what stands here'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT m.market_key AS market_key, concat(m.platform, ':', m.platform_id) AS id, m.platform AS platform, m.platform_id AS platform_id, m.ref AS ref,
  m.title AS title, s.status AS status, m.market_type AS market_type, m.outcome_names AS outcomes,
  m.category AS category, m.subcategory AS subcategory, m.tags AS tags, m.event_id AS event_id, m.event_name AS event_name, m.series_id AS series_id,
  s.prices[1] AS price, s.bids[1] AS bid, s.asks[1] AS ask, s.asks[1] - s.bids[1] AS spread,
  s.volume_24h AS volume_24h, s.volume_7d AS volume_7d, s.volume_total AS volume_total, s.liquidity AS liquidity, s.open_interest AS open_interest,
  s.price_change_24h AS price_change_24h, s.price_change_7d AS price_change_7d,
  m.created_at AS created_at, m.trading_end_at AS trading_end_at, m.resolution_date AS resolution_date, s.resolved_at AS resolved_at,
  m.source_url AS source_url, m.first_seen_at AS first_seen_at, s.synced_at AS synced_at
FROM markets AS m FINAL INNER JOIN market_state AS s FINAL ON s.platform = m.platform AND s.market_key = m.market_key
COMMENT 'Every market with its latest state, one row each';

CREATE OR REPLACE VIEW v_trades (
  market_key UInt64 COMMENT 'Joins to v_markets; a filter on it reads one market only',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  trade_id String COMMENT 'Id of the platform; on Polymarket made of transaction and fill',
  executed_at DateTime64(6, 'UTC') COMMENT 'When the platform executed it',
  side Enum8('buy' = 1, 'sell' = 2) COMMENT 'Of the taker',
  outcome LowCardinality(String) COMMENT 'Id of the outcome traded',
  outcome_index UInt8 COMMENT 'Its place in v_markets.outcomes, from 0',
  price Decimal64(10) COMMENT 'Of the outcome traded, 0..1',
  first_price Decimal64(10) COMMENT 'In terms of the first outcome (of its own, where a market has more than two)',
  size Decimal64(6) COMMENT 'Contracts',
  notional Decimal64(6) COMMENT 'price × size, USD',
  trader String COMMENT 'Wallet of the taker; empty where the platform names none',
  is_block Bool COMMENT 'Negotiated off the book: counts for volume, not for price',
  transaction_hash String COMMENT 'Empty where there is none',
  stored_at DateTime64(3, 'UTC') COMMENT 'When this service stored it'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, trade_id, executed_at, side, outcome, outcome_index, price, series_price AS first_price, size, notional,
  if(trader = '', '', concat('0x', lower(hex(trader)))) AS trader, is_block, transaction_hash, ingested_at AS stored_at
FROM trades FINAL
COMMENT 'Every trade, one row a fill, seen from its taker';

CREATE OR REPLACE VIEW v_candles (
  market_key UInt64 COMMENT 'Joins to v_markets',
  interval LowCardinality(String) COMMENT '1m or 1h: always filter on it; group these for longer ones',
  series UInt8 COMMENT '0: prices of the first outcome; more only where a market has more than two outcomes',
  t DateTime('UTC') COMMENT 'Start of the bar',
  open Nullable(Decimal64(10)) COMMENT 'First price; null when only block trades fell into the bar',
  high Nullable(Decimal64(10)) COMMENT 'Highest price',
  low Nullable(Decimal64(10)) COMMENT 'Lowest price',
  close Nullable(Decimal64(10)) COMMENT 'Last price',
  volume Decimal64(6) COMMENT 'Contracts traded',
  notional Decimal64(6) COMMENT 'USD traded',
  trades Int64 COMMENT 'Number of trades'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, interval, series, t,
  if(h >= 0, toNullable(o.px), NULL) AS open, if(h >= 0, toNullable(h), NULL) AS high, if(h >= 0, toNullable(l), NULL) AS low,
  if(h >= 0, toNullable(c.px), NULL) AS close, v AS volume, q AS notional, n AS trades
FROM (
  SELECT market_key, '1m' AS interval, series, t, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM candles_1m GROUP BY market_key, series, t HAVING n > 0
  UNION ALL
  SELECT market_key, '1h' AS interval, series, t, min(o) AS o, max(h) AS h, min(l) AS l, max(c) AS c, sumWithOverflow(v) AS v, sumWithOverflow(q) AS q, sum(n) AS n
  FROM candles_1h GROUP BY market_key, series, t HAVING n > 0
)
COMMENT 'Bars of stored trades; a bar without trades has no row';

CREATE OR REPLACE VIEW v_volume (
  hour DateTime('UTC') COMMENT 'Start of the hour; a filter on it reads these hours only',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  market_key UInt64 COMMENT 'Joins to v_markets',
  volume Decimal64(6) COMMENT 'Contracts traded',
  notional Decimal64(6) COMMENT 'USD traded',
  trades Int64 COMMENT 'Number of trades'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT hour, platform, market_key, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, sum(n) AS trades
FROM volume_1h GROUP BY hour, platform, market_key HAVING trades > 0
COMMENT 'Traded volume by hour, over all markets';

CREATE OR REPLACE VIEW v_quotes (
  market_key UInt64 COMMENT 'Joins to v_markets',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  at DateTime64(3, 'UTC') COMMENT 'When the platform said so: at every change a sweep saw, and every few minutes',
  status LowCardinality(String) COMMENT 'As in v_markets',
  price Nullable(Decimal64(10)) COMMENT 'Of the first outcome',
  bid Nullable(Decimal64(10)) COMMENT 'Best bid of the first outcome',
  ask Nullable(Decimal64(10)) COMMENT 'Best ask of the first outcome',
  spread Nullable(Decimal64(10)) COMMENT 'ask - bid',
  volume_total Nullable(Decimal64(6)) COMMENT 'By the platform: USD, contracts on Kalshi',
  liquidity Decimal64(6) COMMENT 'USD of collateral at rest',
  open_interest Nullable(Decimal64(6)) COMMENT 'Contracts on Kalshi, USD elsewhere'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, at, status, price, bid, ask, ask - bid AS spread, volume_total, liquidity, open_interest
FROM market_snapshots FINAL
COMMENT 'Quotes and totals of markets over time';

CREATE OR REPLACE VIEW v_market_stats (
  market_key UInt64 COMMENT 'Joins to v_markets',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  trades Int64 COMMENT 'Stored trades',
  volume Decimal64(6) COMMENT 'Contracts of stored trades',
  notional Decimal64(6) COMMENT 'USD of stored trades',
  traders UInt64 COMMENT 'Distinct takers of stored trades; 0 where the platform names none',
  first_trade_at DateTime64(6, 'UTC') COMMENT 'Oldest stored trade',
  last_trade_at DateTime64(6, 'UTC') COMMENT 'Newest stored trade',
  as_of Nullable(DateTime64(3, 'UTC')) COMMENT 'Instant of what follows; null for a market that is not listed yet',
  sold_24h Nullable(Decimal64(6)) COMMENT 'Sold in the 24 h before as_of: USD, contracts on Kalshi; null when not known for this window and the one before',
  sold_24h_before Nullable(Decimal64(6)) COMMENT 'Sold in the 24 h before those',
  sold_7d Nullable(Decimal64(6)) COMMENT 'As sold_24h, over 7 days',
  sold_7d_before Nullable(Decimal64(6)) COMMENT 'Sold in the 7 days before those'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT t.market_key AS market_key, t.platform AS platform, t.trades AS trades, t.volume AS volume, t.notional AS notional, t.traders AS traders,
  t.first_trade_at AS first_trade_at, t.last_trade_at AS last_trade_at,
  if(w.as_of > toDateTime64(0, 3, 'UTC'), toNullable(w.as_of), NULL) AS as_of,
  w.sold_24h AS sold_24h, w.sold_24h_before AS sold_24h_before, w.sold_7d AS sold_7d, w.sold_7d_before AS sold_7d_before
FROM (
  SELECT market_key, any(platform) AS platform, sum(n) AS trades, sumWithOverflow(v) AS volume, sumWithOverflow(q) AS notional, uniqExactIfMerge(traders) AS traders,
    min(first_trade_at) AS first_trade_at, max(last_trade_at) AS last_trade_at
  FROM market_totals GROUP BY market_key
) AS t
LEFT JOIN market_windows AS w ON w.market_key = t.market_key
COMMENT 'What the stored trades of each market add up to, one row a traded market';

CREATE OR REPLACE VIEW v_whales (
  market_key UInt64 COMMENT 'Joins to v_markets',
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  trade_id String COMMENT 'As in v_trades',
  executed_at DateTime64(6, 'UTC') COMMENT 'When the platform executed it',
  side Enum8('buy' = 1, 'sell' = 2) COMMENT 'Of the taker',
  outcome LowCardinality(String) COMMENT 'Id of the outcome traded',
  price Decimal64(10) COMMENT 'Of the outcome traded, 0..1',
  size Decimal64(6) COMMENT 'Contracts, 250 or more',
  notional Decimal64(6) COMMENT 'price × size, USD',
  trader String COMMENT 'Wallet of the taker; empty where the platform names none',
  is_block Bool COMMENT 'Negotiated off the book'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, trade_id, executed_at, side, outcome, price, size, notional,
  if(trader = '', '', concat('0x', lower(hex(trader)))) AS trader, is_block
FROM whales FINAL
COMMENT 'Trades of 250 contracts and more, in time order: fast over all markets';

CREATE OR REPLACE VIEW v_ingestion (
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  job LowCardinality(String) COMMENT 'What was done: markets, changed, archive, trades, backfill, gaps, candles, checkpoint',
  started_at DateTime64(3, 'UTC') COMMENT 'Start of the run',
  finished_at DateTime64(3, 'UTC') COMMENT 'End of the run',
  seconds Float64 COMMENT 'Duration',
  ok Bool COMMENT 'false: it failed, note says why',
  fresh_to Nullable(DateTime64(3, 'UTC')) COMMENT 'The data of this job is complete up to here; null before its first success',
  lag_seconds Nullable(Float64) COMMENT 'From fresh_to to the end of the run',
  rows UInt64 COMMENT 'Rows stored',
  bad_rows UInt64 COMMENT 'Rows of the platform that were skipped: a required field was missing or malformed',
  note String COMMENT 'What went wrong, or beside the plan',
  worker String COMMENT 'Process that ran it'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT platform, job, started_at, finished_at, toFloat64(finished_at) - toFloat64(started_at) AS seconds, ok,
  if(fresh_to > toDateTime64(0, 3, 'UTC'), toNullable(fresh_to), NULL) AS fresh_to,
  if(fresh_to > toDateTime64(0, 3, 'UTC'), toNullable(toFloat64(finished_at) - toFloat64(fresh_to)), NULL) AS lag_seconds,
  rows, bad_rows, note, worker
FROM ingestion_runs
COMMENT 'Every run of every ingestion job of the last 30 days';
