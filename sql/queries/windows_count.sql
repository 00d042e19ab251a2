-- GET analytics/trending, analytics/categories: whether windows have been computed since the first market was stored
SELECT count() AS markets FROM market_windows
