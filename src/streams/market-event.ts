import type { Platform } from '../core/model.ts';

/** A market whose stored state differs from the last logged one. */
interface MarketChange {
  platform_id: string;
  status: string;
  /** '' if nothing was logged of it. */
  previous_status: string;
  resolved_at: string | null;
  /** JSON of the payouts by outcome; '' if there are none, {} if they are unknown. */
  payouts: string;
  synced_at: string;
}

/** The data of a `market` event, without `sequence` and `sent_at`. */
export function marketEvent(platform: Platform, change: MarketChange, at: string): object {
  const { status, previous_status: before } = change;
  return {
    type: typeOf(status, before),
    platform,
    market_id: change.platform_id,
    status,
    previous_status: before === '' ? null : before,
    resolved_at: change.resolved_at,
    payouts: change.payouts === '' || change.payouts === '{}' ? null : (JSON.parse(change.payouts) as unknown),
    at,
    received_at: change.synced_at,
  };
}

function typeOf(status: string, before: string): 'created' | 'status' | 'resolved' | 'changed' {
  if (before === '') return 'created';
  if (before === status) return 'changed';
  return status === 'settled' ? 'resolved' : 'status';
}
