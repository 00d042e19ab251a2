-- The present of markets, copied from ClickHouse so that a look-up takes a fraction of a millisecond: a market is found by any of its ids, and
-- its answer is ready. ClickHouse holds the truth: what is missing here is copied again.

-- One row a platform. It is locked while a group of markets is copied, so that two processes never copy an older state over a newer one.
CREATE TABLE present_platforms (
  platform text PRIMARY KEY,
  -- Counts the groups: rows carry the number of the group that wrote them.
  version bigint NOT NULL DEFAULT 0,
  -- The store's time up to which everything written to ClickHouse is here; null until all markets have been copied once.
  copied_to timestamptz
);

-- What changes rarely. key is the market's hash in ClickHouse less 2^63, in the same order.
CREATE TABLE present_markets (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  ref text NOT NULL,
  platform_id text NOT NULL,
  token_ids text[] NOT NULL,
  -- Slowly changing facts as JSON, as answers hold them.
  info text NOT NULL,
  first_seen_at timestamptz NOT NULL,
  -- ClickHouse's version of the facts.
  info_version timestamptz NOT NULL
);

-- Every id by which a market is known. Where two markets have one, the smallest rank counts: reference, platform id, token, slug.
CREATE TABLE present_names (
  platform text NOT NULL,
  name text NOT NULL,
  key bigint NOT NULL,
  rank smallint NOT NULL,
  PRIMARY KEY (platform, name, key)
);
CREATE INDEX present_names_key ON present_names (key);

-- What moves with trading.
CREATE TABLE present_states (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  version bigint NOT NULL,
  -- Facts that change with trading as JSON, as answers hold them.
  state text NOT NULL,
  -- Takers among the stored trades, and since when these are stored; null if the trades name none.
  unique_traders bigint,
  traded_since timestamptz,
  synced_at timestamptz NOT NULL,
  -- ClickHouse's time of the insert.
  written_at timestamptz NOT NULL
);
