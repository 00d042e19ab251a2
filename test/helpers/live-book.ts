import type { Platform } from '../../src/core/model.ts';
import type { ServedBook } from '../oracle/book.ts';
import type { Pipeline } from '../oracle/pipeline.ts';

/** Less than polls leave between two books of a market. */
const ARRIVAL_MS = 300;
/** Books are stored twice a second. */
const STORED_MS = 1500;

/** A market of a simulated world, as the service names it. */
export interface BookedMarket {
  platform: Platform;
  ref: string;
  id: string;
}

/** Changes of a market's book that its platform's socket brought. */
export async function socketChanges({ clickhouse }: Pipeline, { platform, ref }: BookedMarket): Promise<number> {
  const [row] = await clickhouse.sql<{ n: string }>(
    'SELECT toString(count()) AS n FROM v_book_changes WHERE NOT polled AND market_key = sipHash64({platform:String}, {ref:String})',
    { platform, ref },
  );
  return Number(row?.n);
}

/** How the book recorded a moment after a change differs from the platform's; [] when it does not. */
export async function wrongLiveBook(
  service: Pipeline,
  { platform, id }: BookedMarket,
  change: () => unknown,
  truth: () => ServedBook,
): Promise<unknown[]> {
  change();
  const { bids, asks } = truth().yes;
  await service.clock.sleep(ARRIVAL_MS);
  const at = new Date(service.clock.now()).toISOString();
  if (JSON.stringify(truth().yes) !== JSON.stringify({ ...truth().yes, bids, asks }))
    return ['the market went on trading'];
  await service.clock.sleep(STORED_MS);
  const path = `markets/id/${encodeURIComponent(id)}/orderbook?provider=${platform}&at=${at}`;
  const { data } = await service.get<{ data: ServedBook }>(path);
  return JSON.stringify([data.yes.bids, data.yes.asks]) === JSON.stringify([bids, asks])
    ? []
    : [data.yes, { bids, asks }];
}
