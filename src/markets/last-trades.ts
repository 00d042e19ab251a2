import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Platform } from '../core/model.ts';
import { MANIFESTS } from '../platforms/manifests.ts';

/** Markets priced by one statement. */
const REFS_AT_ONCE = 500;

/**
 * Prices these markets by their newest stored trade where that is newer than the listing's own last trade, and moves
 * the changes of their price along. Their rows keep the times of the listing: nothing that lists are sorted by changes.
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
