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

-- What people say of pairs: their verdict counts in place of that of the rules. Without a user it is the operator's, and counts for all.
CREATE TABLE IF NOT EXISTS match_verdicts (
  match_key bigint NOT NULL,
  user_id   uuid REFERENCES users ON DELETE CASCADE,
  -- 'unknown' where the pair is refused.
  relation  text NOT NULL,
  note      text CHECK (length(note) <= 500),
  -- The texts on which it was given.
  a_texts   bigint NOT NULL,
  b_texts   bigint NOT NULL,
  given_at  timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (match_key, user_id)
);
CREATE INDEX IF NOT EXISTS match_verdicts_user ON match_verdicts (user_id);
