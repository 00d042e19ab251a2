-- ingestion: the markets whose order books clients of other processes stream
SELECT DISTINCT platform, ref FROM books_wanted WHERE written_at > now64(3) - toIntervalMillisecond({within_ms:UInt32}) LIMIT {limit:UInt32}
