-- Orders: the request, its result, every attempt, and the users' own limits.

CREATE TABLE orders (
  id                 uuid PRIMARY KEY,
  user_id            uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  platform           text NOT NULL,
  credential_id      bigint,                       -- no reference: the order outlives it; null = the operator's default client
  origin             text NOT NULL CHECK (origin IN ('service', 'platform')), -- sent by us, or found in the account

  -- The request; of an order found in the account, what its platform reports.
  market_ref         text NOT NULL,
  market_id          text NOT NULL,
  outcome            text NOT NULL,
  outcome_index      smallint NOT NULL,
  side               text NOT NULL,
  type               text NOT NULL,
  time_in_force      text NOT NULL,
  price              numeric,                      -- limit, or bound of a market order
  size               numeric NOT NULL,
  expires_at         timestamptz,
  client_order_id    text NOT NULL,                -- '' only with origin platform
  notional           numeric NOT NULL,             -- USD the order can cost: price × size of a purchase, max(price, 1 − price) × size of a sale
  idempotency_key    text,                         -- null when none was given; unique for as long as the order is kept
  body_hash          text,                         -- of the request that claimed the key
  wire               jsonb NOT NULL DEFAULT '{}',  -- what is sent, without signatures

  -- The result. sending: inserted before the one attempt; unknown: not reported; placed: the platform has it;
  -- rejected: it provably has not.
  state              text NOT NULL CHECK (state IN ('sending', 'unknown', 'placed', 'rejected')),
  order_id           text,                         -- the platform's
  status             text NOT NULL,
  filled_size        numeric,
  remaining_size     numeric,
  average_fill_price numeric,
  maker_fee          numeric,
  taker_fee          numeric,
  metadata           jsonb NOT NULL DEFAULT '{}',
  refusal            jsonb,                        -- the error answered when the platform refused it
  created_at         timestamptz NOT NULL,
  updated_at         timestamptz NOT NULL,
  asked_at           timestamptz NOT NULL,         -- when the platform was asked for these values: later answers win
  next_check_at      timestamptz,                  -- when to recheck the order at its platform; null = only on request

  -- What was asked for beside price and size, what it brought, and why its result is unknown.
  amount                numeric,                   -- USD to spend, given in place of a size; size is then what it bought in the book
  post_only             boolean,
  reduce_only           boolean,
  self_trade_prevention text,                      -- null = the platform's default
  received_size         numeric,                   -- contracts that a purchase brought, after fees taken in contracts
  received_usd          numeric,                   -- USD that a sale brought, after fees
  unknown_reason        text                       -- why the answer to the one attempt did not tell the result
);
CREATE UNIQUE INDEX orders_idempotency ON orders (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- A platform takes a client order id once per account; so do we, before it is sent.
CREATE UNIQUE INDEX orders_client_id ON orders (platform, coalesce(credential_id, 0), client_order_id)
  WHERE origin = 'service' AND state <> 'rejected';
-- One order of a platform belongs to one of ours.
CREATE UNIQUE INDEX orders_sent ON orders (platform, order_id) WHERE origin = 'service';
CREATE UNIQUE INDEX orders_held ON orders (user_id, platform, coalesce(credential_id, 0), order_id);
CREATE INDEX orders_listed ON orders (user_id, platform, created_at, id);
CREATE INDEX orders_due ON orders (next_check_at) WHERE next_check_at IS NOT NULL;

-- Up to when an account's orders were read from its platform.
CREATE TABLE order_syncs (
  user_id       uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  platform      text NOT NULL,
  credential_id bigint NOT NULL,
  synced_at     timestamptz NOT NULL,
  PRIMARY KEY (user_id, platform, credential_id)
);

-- Every attempt at something that moves money, with its result. No references: the record outlives users and orders.
CREATE TABLE order_attempts (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at            timestamptz NOT NULL DEFAULT now(),
  user_id       uuid NOT NULL,
  platform      text NOT NULL,
  credential_id bigint,
  row_id        uuid,                              -- orders.id
  order_id      text,
  action        text NOT NULL,                     -- place, dry_run, find, cancel
  result        text NOT NULL,                     -- accepted, rejected, unknown; signed; found, absent, failed; cancelled, not_open, unconfirmed
  http_status   int NOT NULL,                      -- the platform's; 0 without an answer
  detail        text NOT NULL,                     -- the platform's text
  ms            int NOT NULL,
  request_id    text NOT NULL                      -- '' for background work
);
CREATE INDEX order_attempts_user ON order_attempts (user_id, at);
-- Old attempts are dropped every hour, the oldest first, by age over all users and by number for each (order_attempts_user).
CREATE INDEX order_attempts_at ON order_attempts (at);

-- A user's own limits; no row = no limits.
CREATE TABLE order_settings (
  user_id            uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  trading_enabled    boolean NOT NULL DEFAULT true,
  max_order_notional numeric,                      -- USD of one order
  max_day_notional   numeric                       -- USD of a UTC day's orders that were not refused
);

-- The operator's default order clients: who may place orders through them, and what the operator allows.

CREATE TABLE default_client_users (
  user_id    uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  granted_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE default_client_settings (
  only_row           boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  trading_enabled    boolean NOT NULL DEFAULT true, -- false: no order is placed, and working ones are cancelled
  max_order_notional numeric                        -- USD of one order; null = no limit
);
INSERT INTO default_client_settings DEFAULT VALUES;

-- What the operator's kill switch cancels.
CREATE INDEX orders_default_working ON orders (asked_at)
  WHERE credential_id IS NULL AND status IN ('pending', 'open', 'partially_filled', 'unknown');
