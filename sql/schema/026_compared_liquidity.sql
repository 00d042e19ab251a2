-- Liquidity in USD has one basis on all platforms: the orders on the best level of each side. If a platform's own figure counts the whole
-- book, the best levels are read from the book.
ALTER TABLE market_state
  -- USD of collateral on the best levels, where liquidity counts the whole book; null until that was read.
  ADD COLUMN IF NOT EXISTS best_level Nullable(Decimal64(6)) AFTER liquidity,
  -- An empty book has no best level.
  ADD COLUMN IF NOT EXISTS liquidity_usd Nullable(Decimal64(6)) MATERIALIZED multiIf(
    JSONExtractString(metadata, 'liquidity_basis') != 'full_book', if(liquidity_known, toNullable(liquidity), NULL),
    liquidity = 0, toNullable(liquidity), best_level) AFTER liquidity_known;

-- The view is dropped first: a running refresh would replace this table by one without the new column.
DROP VIEW IF EXISTS market_windows_mv SYNC;
ALTER TABLE market_windows ADD COLUMN IF NOT EXISTS liquidity_usd Nullable(Decimal64(6)) AFTER liquidity_known;
-- A refresh keeps the rows until sql/schema/views/market_windows_now.sql defines this view, right after the numbered files.
CREATE OR REPLACE VIEW market_windows_now AS SELECT * FROM market_windows;
CREATE MATERIALIZED VIEW IF NOT EXISTS market_windows_mv REFRESH AFTER 5 MINUTE TO market_windows AS
SELECT * FROM market_windows_now SETTINGS max_threads = 1, join_use_nulls = 0;
