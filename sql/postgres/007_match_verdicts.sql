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
