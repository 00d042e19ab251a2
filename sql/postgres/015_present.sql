-- The present of markets, copied from ClickHouse so that a look-up takes a fraction of a millisecond: a market is found by any of its ids, and
-- its answer is ready. ClickHouse holds the truth: what is missing here is copied again. So the tables of former releases are dropped, and
-- the next start fills these. Their functions and triggers are in sql/postgres/functions.

-- One row a platform. It is locked while a group of markets is copied, so that two processes never copy an older state over a newer one.
CREATE TABLE IF NOT EXISTS present_platforms (
  platform text PRIMARY KEY,
  -- Counts the groups: rows carry the number of the group that wrote them.
  version bigint NOT NULL DEFAULT 0,
  -- Lists of earlier versions than this one lack former rows.
  former_from bigint NOT NULL DEFAULT 0,
  -- The store's time up to which everything written to ClickHouse is here; null until all markets have been copied once.
  complete_to timestamptz
);
-- The rows of former releases stay: later pages of older lists know their versions. The column has another name than it had, so that no
-- process of such a release states that the new tables are complete.
ALTER TABLE present_platforms DROP COLUMN IF EXISTS copied_to, ADD COLUMN IF NOT EXISTS complete_to timestamptz;
UPDATE present_platforms SET version = version + 1, former_from = version + 1;

DROP TABLE IF EXISTS present_markets, present_searched, present_names, present_states, present_ranks, present_ranks_were, present_counts,
  present_words, present_events, present_event_searched, present_event_ranks, present_event_ranks_were, present_series, present_matches,
  present_tapes, present_feeds, present_spans, present_traders, present_trades;

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
  info_version timestamptz NOT NULL,
  -- ClickHouse's hash of what the market asks (market_questions): a verdict of matches holds while it stays.
  texts bigint NOT NULL
);
-- Verdicts of matches are compared with it, many at once, without reading the rows.
CREATE INDEX present_markets_texts ON present_markets (key) INCLUDE (texts);

-- What a search looks at, and what most searches filter by. A frequent word is in thousands of these rows, so they are short: their
-- words are stored beside the table, and found by their index alone.
CREATE TABLE present_searched (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  -- As in present_ranks, kept by its trigger.
  hidden smallint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT '',
  category_slug text NOT NULL DEFAULT '',
  by_end_date bigint NOT NULL DEFAULT 0,
  -- The platform id in lower case.
  id text NOT NULL,
  -- The folded title, and the folded words of title, description and ids (src/core/search-text.ts).
  title text NOT NULL,
  words tsvector NOT NULL,
  -- PostgreSQL moves words out of rows of 2 KB and more. This makes each row as long, and takes 40 bytes of it, compressed.
  filler text NOT NULL DEFAULT repeat(' ', 2000)
) WITH (fillfactor = 90, toast_tuple_target = 320);
ALTER TABLE present_searched
  ALTER COLUMN id SET STORAGE MAIN, ALTER COLUMN title SET STORAGE MAIN, ALTER COLUMN words SET STORAGE EXTERNAL;
CREATE INDEX present_searched_words ON present_searched USING gin (words) WITH (gin_pending_list_limit = 256);

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
  written_at timestamptz NOT NULL,
  -- Number of stored trades.
  trades bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);

-- Lists of markets: what they filter and sort by, as it is and as it was, so that all pages of a list show it as of the first one.

-- One row a listed market. Places ascend, the largest, the newest or the soonest first; equal ones go by key, as in ClickHouse.
CREATE TABLE present_ranks (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  -- The group that last changed the row.
  version bigint NOT NULL,
  -- 0: every list has it, 1: placeholder, 2: combination, 3: both.
  hidden smallint NOT NULL,
  status text NOT NULL,
  category_slug text NOT NULL,
  event_id text NOT NULL,
  -- Amounts are minus their millionths, positive where unknown: after zero. An unknown volume of a day or week has a place from 1 to 1000000:
  -- the larger the volume in all, in steps of ten of the platform's unit, the smaller the place. Other unknown amounts have 1000000.
  by_volume_24h bigint NOT NULL,
  by_volume_total bigint NOT NULL,
  by_liquidity bigint NOT NULL,
  liquidity_known boolean NOT NULL,
  -- Milliseconds; 2200-01-01 where unknown.
  by_end_date bigint NOT NULL,
  -- Minus milliseconds.
  by_created bigint NOT NULL,
  -- From when on a market that is over has traded nothing for a day; null if its volume needs no change then.
  stale_at timestamptz,
  -- Volumes in USD.
  by_volume_24h_usd bigint NOT NULL DEFAULT 1000000,
  by_volume_7d_usd bigint NOT NULL DEFAULT 1000000,
  by_volume_total_usd bigint NOT NULL DEFAULT 1000000,
  -- As stale_at, for a week.
  stale_week_at timestamptz,
  -- Units of 10^-10, 20000000000 where unknown: minus the price of the first outcome, the spread, and minus the change of the price in a day.
  by_price bigint NOT NULL DEFAULT 20000000000,
  by_spread bigint NOT NULL DEFAULT 20000000000,
  by_change_24h bigint NOT NULL DEFAULT 20000000000,
  -- Minus milliseconds, 0 where the platform has stated no result.
  by_resolved bigint NOT NULL DEFAULT 0,
  -- Counts the best levels on every platform; by_liquidity is the platform's own figure.
  by_liquidity_usd bigint NOT NULL DEFAULT 1000000
) WITH (fillfactor = 80);
CREATE INDEX present_ranks_volume_24h ON present_ranks (platform, hidden, status, by_volume_24h, key);
CREATE INDEX present_ranks_volume_total ON present_ranks (platform, hidden, status, by_volume_total, key);
CREATE INDEX present_ranks_liquidity ON present_ranks (platform, hidden, status, by_liquidity, key);
CREATE INDEX present_ranks_end_date ON present_ranks (platform, hidden, status, by_end_date, key);
CREATE INDEX present_ranks_created ON present_ranks (platform, hidden, status, by_created, key);
CREATE INDEX present_ranks_category ON present_ranks (platform, hidden, status, category_slug, by_volume_24h, key);
CREATE INDEX present_ranks_event ON present_ranks (platform, event_id);
CREATE INDEX present_ranks_stale ON present_ranks (platform, stale_at) WHERE stale_at IS NOT NULL;
CREATE INDEX present_ranks_volume_24h_usd ON present_ranks (platform, hidden, status, by_volume_24h_usd, key);
CREATE INDEX present_ranks_volume_7d_usd ON present_ranks (platform, hidden, status, by_volume_7d_usd, key);
CREATE INDEX present_ranks_volume_total_usd ON present_ranks (platform, hidden, status, by_volume_total_usd, key);
CREATE INDEX present_ranks_stale_week ON present_ranks (platform, stale_week_at) WHERE stale_week_at IS NOT NULL;
CREATE INDEX present_ranks_price ON present_ranks (platform, hidden, status, by_price, key);
CREATE INDEX present_ranks_spread ON present_ranks (platform, hidden, status, by_spread, key);
CREATE INDEX present_ranks_change_24h ON present_ranks (platform, hidden, status, by_change_24h, key);
CREATE INDEX present_ranks_resolved ON present_ranks (platform, hidden, status, by_resolved, key);
CREATE INDEX present_ranks_liquidity_usd ON present_ranks (platform, hidden, status, by_liquidity_usd, key);

-- Former rows: each counts for lists of the versions from its own until before `until`. They are kept for some minutes.
CREATE TABLE present_ranks_were (
  LIKE present_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_ranks_were_until ON present_ranks_were (platform, until);
CREATE INDEX present_ranks_were_replaced ON present_ranks_were (platform, replaced_at);

-- Number of markets by what most lists filter by: counting two million rows takes longer than an answer may.
CREATE TABLE present_counts (
  platform text NOT NULL,
  hidden smallint NOT NULL,
  status text NOT NULL,
  category_slug text NOT NULL,
  markets bigint NOT NULL,
  PRIMARY KEY (platform, hidden, status, category_slug)
) WITH (fillfactor = 50);

-- Every word of a title, with the version that brought it: all pages of a list go by the same words.
CREATE TABLE present_words (
  platform text NOT NULL,
  kind text NOT NULL,
  word text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (platform, kind, word)
);
CREATE INDEX present_words_reversed ON present_words (platform, kind, reverse(word) COLLATE "C");

-- Events and series of the copied markets: what searches over all platforms find.

CREATE TABLE present_events (
  -- The event's hash in ClickHouse less 2^63.
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  id text NOT NULL,
  slug text NOT NULL,
  series_id text NOT NULL,
  category_slug text NOT NULL,
  -- Facts as JSON, as answers hold them.
  info text NOT NULL
);
CREATE INDEX present_events_id ON present_events (platform, id);
CREATE INDEX present_events_slug ON present_events (platform, slug) WHERE slug <> '';
CREATE INDEX present_events_series ON present_events (platform, series_id);

-- Of events what present_searched is of markets.
CREATE TABLE present_event_searched (LIKE present_searched INCLUDING ALL) WITH (fillfactor = 90, toast_tuple_target = 320);

-- One row an event, with sums over its markets in the columns of present_ranks; event_id is its own id.
CREATE TABLE present_event_ranks (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  version bigint NOT NULL,
  hidden smallint NOT NULL,
  status text NOT NULL,
  category_slug text NOT NULL,
  event_id text NOT NULL,
  by_volume_24h bigint NOT NULL,
  by_volume_total bigint NOT NULL,
  by_liquidity bigint NOT NULL,
  liquidity_known boolean NOT NULL,
  by_end_date bigint NOT NULL,
  by_created bigint NOT NULL,
  stale_at timestamptz,
  by_volume_24h_usd bigint NOT NULL DEFAULT 1000000,
  by_volume_7d_usd bigint NOT NULL DEFAULT 1000000,
  by_volume_total_usd bigint NOT NULL DEFAULT 1000000,
  stale_week_at timestamptz,
  -- Minus the number of its markets.
  by_markets bigint NOT NULL,
  by_liquidity_usd bigint NOT NULL DEFAULT 1000000
) WITH (fillfactor = 80);
CREATE INDEX present_event_ranks_volume_24h ON present_event_ranks (platform, hidden, status, by_volume_24h, key);
CREATE INDEX present_event_ranks_liquidity ON present_event_ranks (platform, hidden, status, by_liquidity, key);
CREATE INDEX present_event_ranks_end_date ON present_event_ranks (platform, hidden, status, by_end_date, key);
CREATE INDEX present_event_ranks_created ON present_event_ranks (platform, hidden, status, by_created, key);
CREATE INDEX present_event_ranks_category ON present_event_ranks (platform, hidden, status, category_slug, by_volume_24h, key);
CREATE INDEX present_event_ranks_event ON present_event_ranks (platform, event_id);
CREATE INDEX present_event_ranks_stale ON present_event_ranks (platform, stale_at) WHERE stale_at IS NOT NULL;
CREATE INDEX present_event_ranks_volume_24h_usd ON present_event_ranks (platform, hidden, status, by_volume_24h_usd, key);
CREATE INDEX present_event_ranks_volume_7d_usd ON present_event_ranks (platform, hidden, status, by_volume_7d_usd, key);
CREATE INDEX present_event_ranks_volume_total_usd ON present_event_ranks (platform, hidden, status, by_volume_total_usd, key);
CREATE INDEX present_event_ranks_stale_week ON present_event_ranks (platform, stale_week_at) WHERE stale_week_at IS NOT NULL;
CREATE INDEX present_event_ranks_liquidity_usd ON present_event_ranks (platform, hidden, status, by_liquidity_usd, key);
CREATE INDEX present_event_ranks_markets ON present_event_ranks (platform, hidden, status, by_markets, key);

-- As present_ranks_were.
CREATE TABLE present_event_ranks_were (
  LIKE present_event_ranks INCLUDING DEFAULTS,
  until bigint NOT NULL,
  replaced_at timestamptz NOT NULL
);
CREATE INDEX present_event_ranks_were_until ON present_event_ranks_were (platform, until);
CREATE INDEX present_event_ranks_were_replaced ON present_event_ranks_were (platform, replaced_at);

-- One row a series.
CREATE TABLE present_series (
  key bigint PRIMARY KEY,
  platform text NOT NULL,
  -- The group that brought it.
  version bigint NOT NULL,
  id text NOT NULL,
  category_slug text NOT NULL,
  info text NOT NULL,
  title text NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX present_series_id ON present_series (platform, id);
CREATE INDEX present_series_words ON present_series USING gin (words) WITH (gin_pending_list_limit = 256);

-- Pairs of markets as the table matches of ClickHouse has them (src/present/matches.ts), so that the matches of a market are one statement here.
-- Keys are hashes of ClickHouse less 2^63, as in present_markets. A verdict holds while both markets have the texts that it was made on.
CREATE TABLE present_matches (
  a_key bigint NOT NULL,
  b_key bigint NOT NULL,
  match_key bigint NOT NULL,
  a_platform text NOT NULL,
  a_texts bigint NOT NULL,
  a_event_id text NOT NULL,
  a_category text NOT NULL,
  b_platform text NOT NULL,
  b_texts bigint NOT NULL,
  b_event_id text NOT NULL,
  b_category text NOT NULL,
  relation text NOT NULL,
  kind text NOT NULL,
  -- JSON, as in ClickHouse.
  reasons text NOT NULL,
  rules_version integer NOT NULL,
  -- A withdrawn pair stays, so that an older copy never brings it back.
  is_withdrawn boolean NOT NULL,
  found_at timestamptz NOT NULL,
  checked_at timestamptz NOT NULL,
  PRIMARY KEY (a_key, b_key)
);
CREATE INDEX present_matches_b ON present_matches (b_key);
CREATE UNIQUE INDEX present_matches_key ON present_matches (match_key);
CREATE INDEX present_matches_found ON present_matches (found_at, match_key);
CREATE INDEX present_matches_a_event ON present_matches (a_platform, a_event_id);
CREATE INDEX present_matches_b_event ON present_matches (b_platform, b_event_id);

-- The newest trades of markets: a page of them takes one look-up. ClickHouse holds all older trades.

-- One row a platform, with what is here of its trades.
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
  -- The USD that it moved, where its platform states it and price × size may be rounded.
  quote_usd numeric,
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
