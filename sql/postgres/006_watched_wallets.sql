-- Wallets whose trades a user watches: a filter of lists, tapes and streams.
CREATE TABLE IF NOT EXISTS watched_wallets (
  user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  address    text NOT NULL,                        -- in lower case
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, address)
);
