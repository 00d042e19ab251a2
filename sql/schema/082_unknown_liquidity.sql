-- Liquidity that is not known is null for analysts too, not 0. Snapshots of before do not say whether theirs was known.
ALTER TABLE market_snapshots ADD COLUMN IF NOT EXISTS liquidity_known Bool DEFAULT true CODEC(ZSTD(1));

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
  liquidity Nullable(Decimal64(6)) COMMENT 'USD of collateral at rest; null until the book of an open market has been read',
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
  s.volume_24h AS volume_24h, s.volume_7d AS volume_7d, s.volume_total AS volume_total, if(s.liquidity_known, toNullable(s.liquidity), NULL) AS liquidity, s.open_interest AS open_interest,
  s.price_change_24h AS price_change_24h, s.price_change_7d AS price_change_7d,
  m.created_at AS created_at, m.trading_end_at AS trading_end_at, m.resolution_date AS resolution_date, s.resolved_at AS resolved_at,
  m.source_url AS source_url, m.first_seen_at AS first_seen_at, s.synced_at AS synced_at
FROM markets AS m FINAL INNER JOIN market_state AS s FINAL ON s.platform = m.platform AND s.market_key = m.market_key
COMMENT 'Every market with its latest state, one row each';

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
  liquidity Nullable(Decimal64(6)) COMMENT 'As in v_markets',
  open_interest Nullable(Decimal64(6)) COMMENT 'Contracts on Kalshi, USD elsewhere'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT market_key, platform, at, status, price, bid, ask, ask - bid AS spread, volume_total,
  if(liquidity_known, toNullable(liquidity), NULL) AS liquidity, open_interest
FROM market_snapshots FINAL
COMMENT 'Quotes and totals of markets over time';
