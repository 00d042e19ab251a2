import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Platform } from '../core/model.ts';
import { MANIFESTS } from '../platforms/manifests.ts';

/** Markets priced by one statement. */
const REFS_AT_ONCE = 500;

/**
 * Prices these markets by their newest stored trade if it is newer than the listing's last trade, and adjusts their price changes.
 * The rows keep the listing's times: sort keys of lists do not change.
 */
export async function priceByLastTrades(
  clickhouse: ClickHouse,
  platform: Platform,
  refs: readonly string[],
): Promise<void> {
  const listed = MANIFESTS[platform].lastTradeFrom === 'listing';
  for (let i = 0; i < refs.length; i += REFS_AT_ONCE) {
    await clickhouse.run('price_by_last_trades', { platform, listed, refs: refs.slice(i, i + REFS_AT_ONCE) });
  }
}
