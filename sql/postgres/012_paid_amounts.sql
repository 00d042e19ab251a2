-- The USD that a trade moved, where its platform states it and price × size may be rounded. Trades are copied again at the next start.
ALTER TABLE present_trades ADD COLUMN quote_usd numeric;
UPDATE present_feeds SET is_listed = false, is_built = false;
