import { PlatformError } from '../../../../src/core/errors.ts';
import type { JsonObject } from '../../../../src/core/model.ts';
import type { AdapterDeps, PlatformData, ReadContext } from '../../../../src/platforms/contract.ts';
import type { LimitGroupName } from '../../../../src/platforms/manifests.ts';
import { parseBody, parseRow, parseRows } from '../../../../src/platforms/parse-rows.ts';
import { FOURTH, mapBook, mapMarket, mapTrade } from './map.ts';
import { FourthBook, FourthMarket, FourthMarkets, FourthTrade } from './wire.ts';

const ABOUT = { platform: FOURTH, kind: 'market', idKey: 'slug' } as const;

/** The public data of the fourth platform: one list of markets, one feed of trades, live books, no bars of its own. */
export function createFourthData({ http, settings }: AdapterDeps): PlatformData {
  const base = (settings as Record<string, unknown>)['FOURTH_API_URL'];
  const get = (path: string, { priority, user, signal }: ReadContext) =>
    http.send({
      platform: FOURTH,
      group: 'fourth:all' as LimitGroupName,
      method: 'GET',
      url: `${base}${path}`,
      priority,
      user,
      retry: true,
      ...(signal ? { signal } : {}),
    });
  return {
    platform: FOURTH,
    tradeFeed: 'global',
    tradeOverlapMs: 60_000,
    sweepFactor: 1,
    candleIntervalsMin: [],
    async *sweep(scope, context) {
      if (scope.kind === 'historical') return;
      const reply = await get('/markets', context);
      const { items } = parseBody(FOURTH, FourthMarkets, reply);
      const rows = parseRows(FourthMarket, items, ABOUT, context);
      yield { markets: rows.map(({ row, raw }) => mapMarket(row, raw, reply.receivedAt)) };
    },
    async market(id, context) {
      try {
        const reply = await get(`/markets/${encodeURIComponent(id)}`, context);
        const parsed = parseRow(FourthMarket, reply.json, ABOUT, context);
        return parsed && mapMarket(parsed.row, parsed.raw, reply.receivedAt);
      } catch (error) {
        if (error instanceof PlatformError && error.status === 404) return null;
        throw error;
      }
    },
    async *trades({ sinceUs, untilUs }, _directory, context) {
      const reply = await get('/trades', context);
      const { items } = parseBody(FOURTH, FourthMarkets, reply);
      const rows = parseRows(FourthTrade, items, { ...ABOUT, kind: 'trade', idKey: 'id' }, context);
      const trades = rows.flatMap(({ row }) => mapTrade(row) ?? []);
      const wanted = trades.filter((one) => one.executedAtUs >= sinceUs && one.executedAtUs <= (untilUs ?? Infinity));
      yield { trades: wanted, completeFromUs: sinceUs };
    },
    candles: async () => [],
    async orderBook(market, context) {
      const reply = await get(`/book/${encodeURIComponent(market.ref)}`, context);
      return mapBook(market, parseBody(FOURTH, FourthBook, reply), reply.json as JsonObject, reply.receivedAt);
    },
  };
}
