-- Trades of one wallet are found without reading those of all: in new parts at once, in older ones as they are merged.
ALTER TABLE trades ADD INDEX IF NOT EXISTS trader_index trader TYPE bloom_filter(0.01) GRANULARITY 8;
