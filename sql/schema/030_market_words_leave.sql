-- Only former lists of events and of series are searched in ClickHouse: nothing reads the words of markets.
DROP VIEW IF EXISTS search_vocabulary_markets_mv;
