COMMENT ON COLUMN orders.notional IS 'USD the order can cost: price × size of a purchase, max(price, 1 − price) × size of a sale';
