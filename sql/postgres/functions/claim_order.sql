-- Claims the idempotency key and the client order id of an order, and records that it is about to be sent. Nothing is sent before
-- it answers `claimed`. Each query in it sees what was committed before that query began.
--   claimed   the row is stored: send the order now
--   allowed   a dry run: the row would have been stored
--   replay    `known` has claimed the key before
--   limited   `reason` forbids the order: trading_off, order, day (the user's limits), operator_off, operator_order (the operator's)
--   used      the client order id, or the platform's order id, names another order
CREATE OR REPLACE FUNCTION claim_order(
  asked jsonb, is_dry_run boolean,
  OUT answer text, OUT reason text, OUT most numeric, OUT spent numeric, OUT known orders
) LANGUAGE plpgsql AS $$
DECLARE
  given     orders := jsonb_populate_record(NULL::orders, asked);
  own       order_settings;
  operators default_client_settings;
BEGIN
  SELECT s.* INTO own FROM order_settings AS s WHERE s.user_id = given.user_id;
  IF own.max_day_notional IS NOT NULL THEN
    -- One claim of a user at a time, so that two do not spend the same remainder. The limits may have changed in the meantime.
    PERFORM pg_advisory_xact_lock(hashtextextended('orders ' || given.user_id, 0));
    SELECT s.* INTO own FROM order_settings AS s WHERE s.user_id = given.user_id;
  END IF;

  IF given.idempotency_key IS NOT NULL AND NOT is_dry_run THEN
    SELECT o.* INTO known FROM orders AS o
      WHERE o.user_id = given.user_id AND o.idempotency_key = given.idempotency_key;
    IF FOUND THEN answer := 'replay'; RETURN; END IF;
  END IF;

  IF NOT own.trading_enabled THEN
    reason := 'trading_off';
  ELSIF given.notional > own.max_order_notional THEN
    reason := 'order';
    most := own.max_order_notional;
  ELSIF own.max_day_notional IS NOT NULL THEN
    -- Limitless rejects an order later if the settlement of its match fails: `state` is then still placed. Polymarket may reject one
    -- that is partly filled.
    SELECT coalesce(sum(o.notional), 0) INTO spent FROM orders AS o
      WHERE o.user_id = given.user_id AND o.origin = 'service' AND (o.status <> 'rejected' OR o.filled_size > 0)
        AND o.created_at >= date_trunc('day', given.created_at, 'UTC');
    IF spent + given.notional > own.max_day_notional THEN
      reason := 'day';
      most := own.max_day_notional;
    END IF;
  END IF;
  IF reason IS NULL AND given.credential_id IS NULL THEN
    SELECT d.* INTO operators FROM default_client_settings AS d;
    IF NOT coalesce(operators.trading_enabled, false) THEN
      reason := 'operator_off';
    ELSIF given.notional > operators.max_order_notional THEN
      reason := 'operator_order';
      most := operators.max_order_notional;
    END IF;
  END IF;
  IF reason IS NOT NULL THEN answer := 'limited'; RETURN; END IF;
  IF is_dry_run THEN answer := 'allowed'; RETURN; END IF;

  INSERT INTO orders SELECT (given).* ON CONFLICT DO NOTHING;
  IF FOUND THEN answer := 'claimed'; RETURN; END IF;
  -- Another request has claimed the key since the look above, or the client order id is used.
  SELECT o.* INTO known FROM orders AS o
    WHERE o.user_id = given.user_id AND o.idempotency_key = given.idempotency_key;
  answer := CASE WHEN FOUND THEN 'replay' ELSE 'used' END;
END $$;
