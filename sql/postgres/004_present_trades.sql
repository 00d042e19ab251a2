-- The newest trades of markets, copied from ClickHouse: a page of them takes one look-up. ClickHouse holds the truth, and all older trades.

-- One row a platform.
CREATE TABLE present_feeds (
  platform text PRIMARY KEY,
  -- Whether each market with stored trades has a row in present_tapes, and whether the newest trades of all were read since then.
  is_listed boolean NOT NULL DEFAULT false,
  is_built boolean NOT NULL DEFAULT false,
  -- Spans that are missing from the platform's feed: [[from, to], …] in Unix microseconds.
  gaps jsonb NOT NULL DEFAULT '[]',
  -- Older trades are dropped by retention, Unix microseconds.
  kept_us bigint NOT NULL DEFAULT 0
);

-- The stored spans of feeds, as trade_coverage of ClickHouse has them, Unix microseconds. The key of a whole platform's feed is -2^63.
CREATE TABLE present_spans (
  platform text NOT NULL,
  key bigint NOT NULL,
  from_us bigint NOT NULL,
  to_us bigint NOT NULL,
  marker text NOT NULL,
  version_us bigint NOT NULL,
  PRIMARY KEY (platform, key)
) WITH (fillfactor = 80);

-- What is here of each market. A row is locked while trades of its market are added or read from ClickHouse.
CREATE TABLE present_tapes (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  -- All stored trades executed at or after this microsecond are in present_trades; 0: all of the market.
  from_us bigint NOT NULL,
  rows integer NOT NULL,
  -- The newest trade.
  last_us bigint NOT NULL,
  -- When older trades are to be read from ClickHouse; null if no more are wanted.
  fill_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX present_tapes_fill ON present_tapes (platform, last_us) WHERE fill_at IS NOT NULL;

-- Each trade once. Its place among the trades of a market is that of ClickHouse; trade_order is the number there less 2^63.
CREATE TABLE present_trades (
  key bigint NOT NULL,
  executed_us bigint NOT NULL,
  trade_order bigint NOT NULL,
  -- The trade id is the text, behind the transaction hash if there is one.
  id_tx bytea NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- The transaction hash, where it is no part of the id.
  tx bytea,
  outcome text NOT NULL,
  outcome_index smallint NOT NULL,
  series smallint NOT NULL,
  side text NOT NULL,
  price numeric NOT NULL,
  size numeric NOT NULL,
  wallet bytea,
  is_block boolean NOT NULL,
  PRIMARY KEY (key, executed_us, trade_order, id_tx, id)
);

-- Names of wallets, as last reported by their platform.
CREATE TABLE present_traders (
  platform text NOT NULL,
  wallet bytea NOT NULL,
  name text NOT NULL,
  pseudonym text NOT NULL,
  profile_image text NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (platform, wallet)
);
