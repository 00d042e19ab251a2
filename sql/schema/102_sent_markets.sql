-- Fingerprints of the record as the platform sent it: a process that starts knows from them what has not changed.
ALTER TABLE market_state ADD COLUMN IF NOT EXISTS sent_info UInt64 DEFAULT 0;
ALTER TABLE market_state ADD COLUMN IF NOT EXISTS sent_state UInt64 DEFAULT 0;
