-- No statement reads these any more: searches take the rows that they found, and no list of events goes by the volume in all.
DROP INDEX IF EXISTS present_ranks_match, present_ranks_match_usd,
  present_event_ranks_platform_by_volume_24h_key_idx, present_event_ranks_by_volume_24h_usd_key_idx,
  present_event_ranks_platform_hidden_status_by_volume_total__idx;
