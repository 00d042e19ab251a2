import { z } from 'zod';
import type { ClickHouse } from '../stores/clickhouse/client.ts';
import type { Shared } from '../stores/shared/shared.ts';

const KEPT_MS = 60_000;
const Row = z.object({
  platform: z.string(),
  markets: z.coerce.number(),
  open_markets: z.coerce.number(),
  trades: z.coerce.number(),
  first_ms: z.coerce.number(),
  last_ms: z.coerce.number(),
});
/** What is stored of a platform. */
export type StoredFigures = z.infer<typeof Row>;

/** What is stored of each platform, counted at most once a minute. */
export async function storedFigures(
  clickhouse: Pick<ClickHouse, 'query'>,
  shared: Pick<Shared, 'cached'>,
): Promise<StoredFigures[]> {
  const { value } = await shared.cached('stored figures', KEPT_MS, () => clickhouse.query('stored_figures', Row));
  return value;
}
