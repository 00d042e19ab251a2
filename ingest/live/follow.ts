import type { MarketWriter } from '../../src/markets/writer.ts';
import type { StoredMarkets } from '../../src/markets/directory.ts';
import type { PlatformData } from '../../src/platforms/contract.ts';
import type { StatedMarket } from '../../src/platforms/sockets/contract.ts';
import type { JobRun } from '../job-runner.ts';
import type { TradesDeps } from '../trades.ts';
import { HintedFeed } from './hinted-feed.ts';
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts';
import { LiveTrades } from './live-trades.ts';
import { MarketRefresh } from './market-refresh.ts';

interface FollowDeps extends Omit<LiveFeedDeps, 'trades' | 'announced' | 'directory'> {
  data: PlatformData;
  trades: TradesDeps;
  markets: StoredMarkets;
  marketWriter: MarketWriter;
  /** The run (lease and signal) for a read; null while this process may not store trades. */
  run: () => JobRun | null;
  /** Runs a job of the platform now. */
  trigger: (job: 'trades' | 'market_events') => void;
}

/** What follows the sockets of a platform. */
export interface LiveIngestion {
  feed: LiveFeed;
  trades: LiveTrades;
  stop(): Promise<void>;
}

/** Opens the sockets of a platform, and joins their events with what acts on each kind. */
export function followSockets(deps: FollowDeps): LiveIngestion {
  const { data, sockets, pace, trigger } = deps;
  const hinted = new HintedFeed({
    ...deps,
    reachMs: sockets.tradeReachMs ?? data.tradeOverlapMs,
    onFailure: () => {
      trades.makeNextFull();
      trigger('trades');
    },
  });
  const poll = (): void => trigger('trades');
  const trades = new LiveTrades({
    clock: deps.clock,
    sockets,
    pace,
    hinted: data.tradeFeed === 'global' ? hinted : null,
    poll,
  });
  const announced = new MarketRefresh({
    ...deps,
    read: (id, stated) => readAnnounced(deps, id, stated),
    everyMs: sockets.readEveryMs,
  });
  const feed = new LiveFeed({ ...deps, directory: deps.markets, trades, announced });
  return {
    feed,
    trades,
    async stop() {
      announced.stop();
      await feed.stop();
      await trades.stop();
    },
  };
}

/** Reads and stores a market that a socket announced; false if it must be read again. */
async function readAnnounced(deps: FollowDeps, id: string, stated: StatedMarket): Promise<boolean> {
  const { data, marketWriter, trigger } = deps;
  const run = deps.run();
  const market = run && (await data.market(id, run.context('poll')));
  if (!market) return run === null;
  const wasKnown = marketWriter.hasWritten(market.info);
  const isShown = marketWriter.stated.take(market, stated);
  await marketWriter.write(data.platform, [market]);
  trigger('market_events');
  // If the frame states nothing to compare with, the row of a known market may be older than the change.
  return isShown && (Object.keys(stated).length > 0 || !wasKnown);
}
