-- A busy market fills many granules of a table whose other granules have a market each. The engine leaves the time out of the primary key
-- in memory if nine granules of ten begin with a market of their own, and then reads all of a market for any window of it. Kept, the
-- time takes some 20 bytes a granule.
ALTER TABLE trades MODIFY SETTING primary_key_ratio_of_unique_prefix_values_to_skip_suffix_columns = 1;
ALTER TABLE candles_1m MODIFY SETTING primary_key_ratio_of_unique_prefix_values_to_skip_suffix_columns = 1;
ALTER TABLE candles_1h MODIFY SETTING primary_key_ratio_of_unique_prefix_values_to_skip_suffix_columns = 1;
ALTER TABLE platform_candles MODIFY SETTING primary_key_ratio_of_unique_prefix_values_to_skip_suffix_columns = 1;
ALTER TABLE market_snapshots MODIFY SETTING primary_key_ratio_of_unique_prefix_values_to_skip_suffix_columns = 1;
