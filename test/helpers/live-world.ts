import { kalshiTrades } from '../oracle/kalshi.ts';
import { limitlessTrades } from '../oracle/limitless.ts';
import type { ServedTrade } from '../oracle/pipeline.ts';
import { polymarketTrades } from '../oracle/polymarket.ts';
import { type KalshiSimulator, startKalshi } from '../simulators/kalshi.ts';
import { startLimitless } from '../simulators/limitless.ts';
import { startPolymarket } from '../simulators/polymarket.ts';
import { tradeKey } from './trade-follower.ts';

const WORLD = { seed: 41, markets: 20, tradesPerMarket: 5, historyDays: 1 };
/** Platforms whose sign of life is a ping send it this often, for silences to be noticed soon. */
const PING_MS = 1000;

/** A trade as an event of it must be. */
type TrueTrade = Pick<ServedTrade, 'trade_id' | 'metadata'> & { platform: string };

/** The simulated platforms with their sockets, and everything that was traded on them. */
export interface LiveWorld {
  readonly kalshi: KalshiSimulator;
  readonly polymarket: Awaited<ReturnType<typeof startPolymarket>>;
  readonly limitless: Awaited<ReturnType<typeof startLimitless>>;
  /** Addresses, and the key of Kalshi's socket. */
  readonly env: Record<string, string>;
  /** So many trades a second on each platform, until it is called again. */
  startTrading(perSecond: number): void;
  /** Every trade executed at this time, Unix ms, or later, by tradeKey. */
  truth(sinceMs: number): Map<string, TrueTrade>;
  close(): Promise<void>;
}

export async function startLiveWorld(): Promise<LiveWorld> {
  const [kalshi, polymarket, limitless] = await Promise.all([
    startKalshi({ ...WORLD, pingMs: PING_MS }),
    startPolymarket(WORLD),
    startLimitless({ ...WORLD, markets: 1, stream: { pingIntervalMs: PING_MS, pingTimeoutMs: 3 * PING_MS } }),
  ]);
  // Budgets are another test's subject.
  for (const sim of [kalshi, polymarket, limitless]) sim.enforceLimits = false;
  const { apiKeyId, privateKeyPem } = kalshi.world.addAccount({ scopes: ['read'] });
  let trading: NodeJS.Timeout | undefined;
  return {
    kalshi,
    polymarket,
    limitless,
    env: {
      ...kalshi.env,
      ...polymarket.env,
      ...limitless.env,
      KALSHI_API_KEY_ID: apiKeyId,
      KALSHI_PRIVATE_KEY: privateKeyPem,
    },
    startTrading(perSecond) {
      clearInterval(trading);
      if (perSecond === 0) return;
      trading = setInterval(() => {
        for (const sim of [kalshi, polymarket, limitless]) sim.trade(1);
      }, 1000 / perSecond);
    },
    truth(sinceMs) {
      const since = new Date(sinceMs).toISOString();
      const made = [
        ...kalshi.world.markets.flatMap(({ ticker }) => kalshiTrades(kalshi.world, ticker)),
        ...polymarket.world.markets.flatMap((market) => polymarketTrades(polymarket.world, market)),
        ...[...limitless.world.markets.values()].flatMap((market) =>
          market.kind === 'clob' ? limitlessTrades(limitless.world, market) : [],
        ),
      ];
      const recent = made.filter(({ metadata }) => String(metadata['executed_at']) >= since);
      return new Map(recent.map((trade) => [tradeKey(trade.platform, trade.trade_id), trade]));
    },
    async close() {
      clearInterval(trading);
      await Promise.all([kalshi, polymarket, limitless].map((sim) => sim.close()));
    },
  };
}
