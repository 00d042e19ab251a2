-- GET analytics/trending and analytics/categories have them computed when they are asked; the period is for readers of SQL.
ALTER TABLE market_windows_mv MODIFY REFRESH AFTER 5 MINUTE;
