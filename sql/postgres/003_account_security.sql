-- Permissions of keys, where sessions began, known devices and networks, and one-time links.

-- Existing keys may read and trade; new ones read only, unless created for trading.
ALTER TABLE api_keys
  ADD COLUMN scopes            text[] NOT NULL DEFAULT '{read,trade}',
  ADD COLUMN expires_at        timestamptz,                  -- null = never
  ADD COLUMN allowed_addresses text[] NOT NULL DEFAULT '{}'; -- addresses and CIDR blocks; empty = any
ALTER TABLE api_keys ALTER COLUMN scopes SET DEFAULT '{read}';

ALTER TABLE sessions
  ADD COLUMN address          text NOT NULL DEFAULT '',
  ADD COLUMN user_agent       text NOT NULL DEFAULT '',
  ADD COLUMN last_used_at     timestamptz,                   -- written once a minute at most
  ADD COLUMN authenticated_at timestamptz NOT NULL DEFAULT now(); -- the last proof of who it is: a login, or the password again
UPDATE sessions SET authenticated_at = created_at;

-- When the owner of the e-mail was last proven to be the user: by an identity provider, a mailed link, or the operator.
ALTER TABLE users ADD COLUMN email_verified_at timestamptz;
UPDATE users SET email_verified_at = created_at
  WHERE password_hash IS NULL OR EXISTS (SELECT FROM identities WHERE user_id = users.id);

-- Networks an account logged in from: an address, of IPv6 its /64.
CREATE TABLE known_networks (
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  network text NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, network)
);
CREATE INDEX known_networks_seen ON known_networks (seen_at);

-- One-time links that set a password. A used one is deleted.
CREATE TABLE password_resets (
  hash       text PRIMARY KEY,                     -- SHA-256 of the token, base64url
  user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  mailed     boolean NOT NULL,                     -- true: using it proves that the e-mail is the user's
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX password_resets_user ON password_resets (user_id);

-- For dropping what is old.
CREATE INDEX account_events_at ON account_events (at);
