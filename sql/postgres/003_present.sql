-- The present of markets, copied from ClickHouse so that a look-up takes a fraction of a millisecond: a market is found by any of its ids, and
-- its answer is ready. ClickHouse holds the truth: what is missing here is copied again.

-- One row a platform. It is locked while a group of markets is copied, so that two processes never copy an older state over a newer one.
CREATE TABLE present_platforms (
  platform text PRIMARY KEY,
  -- Counts the groups: rows carry the number of the group that wrote them.
  version bigint NOT NULL DEFAULT 0,
  -- The store's time up to which everything written to ClickHouse is here; null until all markets have been copied once.
  copied_to timestamptz,
  -- Lists of earlier versions than this one lack former rows.
  former_from bigint NOT NULL DEFAULT 0
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
  -- Amounts are minus their millionths, 1000000 where unknown: after zero.
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
  stale_week_at timestamptz
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
-- Dropped by 014_unused_indexes.sql.
CREATE INDEX present_ranks_match ON present_ranks (platform, by_volume_24h, key);
CREATE INDEX present_ranks_match_usd ON present_ranks (by_volume_24h_usd, key);
CREATE INDEX present_ranks_stale_week ON present_ranks (platform, stale_week_at) WHERE stale_week_at IS NOT NULL;

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

-- Keeps former rows, the counts and present_searched, whoever changes ranks. Its platform's row is locked then.
CREATE FUNCTION present_ranks_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO present_ranks_were SELECT f.*, p.version, now() FROM former AS f JOIN present_platforms AS p USING (platform);
  END IF;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO present_counts AS c
    SELECT platform, hidden, status, category_slug, count(*) FROM current GROUP BY 1, 2, 3, 4
    ON CONFLICT (platform, hidden, status, category_slug) DO UPDATE SET markets = c.markets + excluded.markets;
    UPDATE present_searched AS t SET hidden = c.hidden, status = c.status, category_slug = c.category_slug, by_end_date = c.by_end_date
    FROM current AS c WHERE t.key = c.key;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO present_counts AS c
    SELECT platform, hidden, status, category_slug, -count(*) FROM former GROUP BY 1, 2, 3, 4
    ON CONFLICT (platform, hidden, status, category_slug) DO UPDATE SET markets = c.markets + excluded.markets;
  ELSE
    INSERT INTO present_counts AS c
    SELECT platform, hidden, status, category_slug, sum(n) FROM (
      SELECT platform, hidden, status, category_slug, -1 AS n FROM former
      UNION ALL
      SELECT platform, hidden, status, category_slug, 1 FROM current
    ) AS moved
    GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0
    ON CONFLICT (platform, hidden, status, category_slug) DO UPDATE SET markets = c.markets + excluded.markets;
    UPDATE present_searched AS t SET hidden = c.hidden, status = c.status, category_slug = c.category_slug, by_end_date = c.by_end_date
    FROM current AS c JOIN former AS f USING (key) WHERE t.key = c.key
      AND (f.hidden, f.status, f.category_slug, f.by_end_date) IS DISTINCT FROM (c.hidden, c.status, c.category_slug, c.by_end_date);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER present_ranks_inserted AFTER INSERT ON present_ranks
  REFERENCING NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_ranks_changed();
CREATE TRIGGER present_ranks_updated AFTER UPDATE ON present_ranks
  REFERENCING OLD TABLE AS former NEW TABLE AS current FOR EACH STATEMENT EXECUTE FUNCTION present_ranks_changed();
CREATE TRIGGER present_ranks_deleted AFTER DELETE ON present_ranks
  REFERENCING OLD TABLE AS former FOR EACH STATEMENT EXECUTE FUNCTION present_ranks_changed();

-- Every word of a title, with the version that brought it: all pages of a list go by the same words.
CREATE TABLE present_words (
  platform text NOT NULL,
  kind text NOT NULL,
  word text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (platform, kind, word)
);
CREATE INDEX present_words_reversed ON present_words (platform, kind, reverse(word) COLLATE "C");

-- Whether two words differ by one letter: inserted, left out, replaced, or swapped with its neighbour (as isOneTypo of src/core/search-text.ts).
CREATE FUNCTION is_one_typo(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  short text := CASE WHEN length(a) <= length(b) THEN a ELSE b END;
  long  text := CASE WHEN length(a) <= length(b) THEN b ELSE a END;
  at    int  := 1;
BEGIN
  WHILE at <= length(short) AND substr(short, at, 1) = substr(long, at, 1) LOOP at := at + 1; END LOOP;
  IF length(long) = length(short) + 1 THEN RETURN substr(short, at) = substr(long, at + 1); END IF;
  IF length(long) <> length(short) OR at > length(short) THEN RETURN false; END IF;
  RETURN substr(short, at + 1) = substr(long, at + 1)
    OR (substr(short, at, 1) = substr(long, at + 1, 1) AND substr(short, at + 1, 1) = substr(long, at, 1) AND substr(short, at + 2) = substr(long, at + 2));
END $$;
