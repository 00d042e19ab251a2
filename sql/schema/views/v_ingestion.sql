CREATE OR REPLACE VIEW v_ingestion (
  platform LowCardinality(String) COMMENT 'kalshi, polymarket or limitless',
  job LowCardinality(String) COMMENT 'What was done: markets, changed, archive, open_interest, images, liquidity, books, streamed_books, market_events, matches, present, trades, backfill, gaps, files, candles, checkpoint',
  time DateTime64(3, 'UTC') COMMENT 'Start of the run',
  started_at DateTime64(3, 'UTC') COMMENT 'As time',
  finished_at DateTime64(3, 'UTC') COMMENT 'End of the run',
  seconds Float64 COMMENT 'Duration',
  ok Bool COMMENT 'false: it failed, note says why',
  fresh_to Nullable(DateTime64(3, 'UTC')) COMMENT 'The data of this job is complete up to here; null before its first success',
  lag_seconds Nullable(Float64) COMMENT 'From fresh_to to the end of the run',
  rows UInt64 COMMENT 'Rows stored',
  bad_rows UInt64 COMMENT 'Rows of the platform that were skipped: a required field was missing or malformed, or the row could not be read',
  bad_fields UInt64 COMMENT 'Malformed fields that are unknown in rows which were stored',
  note String COMMENT 'What went wrong, or beside the plan',
  worker String COMMENT 'Process that ran it'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT platform, job, started_at AS time, started_at, finished_at, toFloat64(finished_at) - toFloat64(started_at) AS seconds, ok,
  if(fresh_to > toDateTime64(0, 3, 'UTC'), toNullable(fresh_to), NULL) AS fresh_to,
  if(fresh_to > toDateTime64(0, 3, 'UTC'), toNullable(toFloat64(finished_at) - toFloat64(fresh_to)), NULL) AS lag_seconds,
  rows, bad_rows, bad_fields, note, worker
FROM ingestion_runs
COMMENT 'Every run of every ingestion job of the last 30 days';
