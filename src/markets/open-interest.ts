import type { Clock } from '../core/time.ts';
import { decimalNumber, USD_SCALE } from '../core/decimal.ts';
import type { JsonObject, Platform } from '../core/model.ts';
import { PlatformError } from '../core/errors.ts';
import type { BadRow, PlatformData } from '../platforms/contract.ts';
import type { Shared } from '../stores/shared/shared.ts';

/** Older figures are read again before they are answered. */
const CURRENT_MS = 600_000;
/** How long a caller waits for the figure. */
const WAIT_MS = 1000;

export interface OpenInterestDeps {
  platforms: Partial<Record<Platform, PlatformData>>;
  shared: Shared;
  onBadRow: (row: BadRow) => void;
  clock: Clock;
}

/** A market's open interest as stored; metadata holds when it was read. */
interface Stored {
  platform: Platform;
  ref: string;
  value: number | null;
  metadata: JsonObject;
}

/**
 * A market's open interest and the matching metadata. If the listing lacks the figure and the stored one is unknown or older than
 * ten minutes, the platform is asked: null if it does not know. If it fails or is too slow, the stored figure with its time.
 */
export async function currentOpenInterest(
  { platforms, shared, onBadRow, clock }: OpenInterestDeps,
  { platform, ref, value, metadata }: Stored,
  user: string,
): Promise<{ value: number | null; metadata: JsonObject }> {
  const data = platforms[platform];
  const { open_interest_at: at, open_interest_basis: _basis, ...others } = metadata;
  if (!data?.openInterest) return { value, metadata };
  if (value !== null && typeof at === 'string' && clock.now() - Date.parse(at) <= CURRENT_MS)
    return { value, metadata };
  const read = async () => {
    let leftOut = '';
    const noteRow = (row: BadRow): void => {
      if (row.id === ref && row.field === undefined) leftOut = row.reason;
      onBadRow(row);
    };
    const context = { priority: 'live', user, onBadRow: noteRow, signal: clock.deadline(WAIT_MS) } as const;
    const found = (await data.openInterest?.([ref], context))?.get(ref);
    if (!found && leftOut !== '') throw new PlatformError(platform, 'unavailable', { detail: leftOut });
    return found ? { usd: decimalNumber(found.value, USD_SCALE), at: found.at } : null;
  };
  try {
    const { value: fresh } = await shared.cached(`open_interest:${platform}:${ref}`, CURRENT_MS, read);
    if (fresh === null) return { value: null, metadata: others };
    return { value: fresh.usd, metadata: { ...others, open_interest_basis: 'usd', open_interest_at: fresh.at } };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { value, metadata };
  }
}
