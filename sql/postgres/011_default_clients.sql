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
