import type { Platform } from '../../../src/core/model.ts';
import { largePage, ofEach, type Pipeline, type ServedTrade } from '../../oracle/pipeline.ts';
import { type Difference, differences } from '../../oracle/vocabulary.ts';
import type { PlatformTruth } from './truth.ts';

/** Trades where GET markets/trades lists them: each market's pages against all trades it truly has, newest first. */
export const wrongMarketTrades = (
  service: Pipeline,
  platform: Platform,
  ids: readonly string[],
  truthOf: (id: string) => ServedTrade[],
): Promise<Difference[]> =>
  ofEach(ids, async (id) => {
    const { rows, pages } = await service.trades(`provider=${platform}&market_id=${id}`, 500 + largePage());
    const truth = truthOf(id);
    return differences(id, { rows, total: pages[0]?.total }, { rows: truth, total: truth.length });
  });

export const marketTradePages =
  (platform: Platform): PlatformTruth['trades'] =>
  async (service, { id, limit, between }) => {
    const { rows, pages } = await service.trades(`provider=${platform}&market_id=${id}`, limit, between);
    return { ids: rows.map((row) => row.trade_id), pages };
  };
