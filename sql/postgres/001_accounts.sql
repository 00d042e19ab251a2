-- Users, what they log in with, what they may do, and the events of their accounts.

CREATE TABLE users (
  id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email         text NOT NULL UNIQUE,              -- trimmed, lower case
  name          text NOT NULL DEFAULT '',
  password_hash text,                              -- argon2id, PHC text; null = signs in through an identity provider only
  tier          text NOT NULL DEFAULT 'free' CHECK (tier IN ('free', 'pro')),
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- When the owner of the e-mail was last proven to be the user: by an identity provider, a mailed link, or the operator.
  email_verified_at   timestamptz,
  -- The limit that the operator gave the user; null = the tier's.
  requests_per_minute integer CHECK (requests_per_minute BETWEEN 1 AND 1000000)
);

CREATE TABLE identities (
  issuer     text NOT NULL,
  subject    text NOT NULL,                        -- the provider's own id of the person; e-mails change, this does not
  user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE sessions (
  id         uuid PRIMARY KEY,                     -- named by the signed cookie
  user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  address          text NOT NULL DEFAULT '',
  user_agent       text NOT NULL DEFAULT '',
  last_used_at     timestamptz,                    -- written once a minute at most
  authenticated_at timestamptz NOT NULL DEFAULT now() -- the last proof of who it is: a login, or the password again
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE api_keys (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  name         text NOT NULL,
  prefix       text NOT NULL,                      -- first characters, to recognise a key by
  hash         text NOT NULL UNIQUE,               -- SHA-256 of the key, base64url
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,                        -- written in batches, so up to some seconds old
  revoked_at   timestamptz,
  scopes       text[] NOT NULL DEFAULT '{read}',   -- read, trade
  expires_at   timestamptz,                        -- null = never
  allowed_addresses text[] NOT NULL DEFAULT '{}'   -- addresses and CIDR blocks; empty = any
);
CREATE INDEX api_keys_user ON api_keys (user_id, created_at);

CREATE TABLE credentials (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  platform   text NOT NULL,
  label      text NOT NULL,
  is_default boolean NOT NULL DEFAULT false,
  key_id     text NOT NULL,                        -- which key of CREDENTIALS_KEY sealed it
  sealed     text NOT NULL,                        -- base64 of nonce, AES-256-GCM ciphertext and tag
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX credentials_user ON credentials (user_id, platform);
CREATE UNIQUE INDEX credentials_default ON credentials (user_id, platform) WHERE is_default;

CREATE TABLE account_events (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT now(),
  user_id uuid,                                    -- no reference: the record outlives the account
  event   text NOT NULL,
  address text NOT NULL DEFAULT '',
  detail  jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX account_events_user ON account_events (user_id, at);
-- For dropping what is old.
CREATE INDEX account_events_at ON account_events (at);

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
