import { PLATFORMS } from '../../src/core/model.ts';
import { sql } from 'drizzle-orm';
import { systemClock } from '../../src/core/time.ts';
import { buildPresent } from '../../src/present/catch-up.ts';
import { TradeCopier } from '../../src/present/trades/copier.ts';

/** Copies markets and newest trades to PostgreSQL, as a service does in its first minutes. */
export async function copyAll(
  stores: Omit<ConstructorParameters<typeof TradeCopier>[0], 'clock'> & Parameters<typeof buildPresent>[0],
): Promise<void> {
  await buildPresent(stores);
  for (const platform of PLATFORMS) {
    const copier = new TradeCopier({ ...stores, clock: systemClock }, platform);
    await copier.catchUp(0);
    while ((await copier.fill()) > 0);
  }
  // As autovacuum does within the next minute, and as the peer does.
  await stores.postgres.db.execute(sql`VACUUM ANALYZE`);
}
