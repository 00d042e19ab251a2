import { join } from 'node:path';
import { announceBooks } from '../src/books/announcer.ts';
import type { PlatformData } from '../src/platforms/contract.ts';
import { followMarkets } from '../src/stores/shared/stored-changes.ts';
import { serveHistoryRequests } from './on-demand-history.ts';
import { type JobDeps, JobRunner } from './job-runner.ts';
import { MarketMatcher } from './matches/matcher.ts';
import { QuotePublisher } from './live/quote-publisher.ts';
import { QuotedMarkets } from './live/quoted-markets.ts';
import { Spool } from './spool/spool.ts';
import { FollowedTrades } from '../src/streams/log/followed.ts';
import { TradeInserts } from './spool/trade-inserts.ts';
import { PlatformFeed, type PlatformFeedDeps } from './platform-feed.ts';

interface IngestionDeps extends Omit<
  PlatformFeedDeps,
  'spool' | 'inserts' | 'matcher' | 'quoted' | 'streamed' | 'announce' | 'trigger'
> {
  platforms: readonly PlatformData[];
  /** Called with every run of a job that ended. */
  onRun?: JobDeps['onRun'];
}

export interface Ingestion {
  /** Lets running jobs finish (bounded) and releases the leases. Unacknowledged rows are in the spool or will be read again. */
  stop(): Promise<void>;
}

/** Starts polling every configured platform. Any number of processes may do so: leases decide which one runs a job. */
export async function startIngestion(deps: IngestionDeps): Promise<Ingestion> {
  const runner = new JobRunner(deps);
  const spool = await Spool.open(join(deps.config.dataDir, 'spool'));
  const followed = new FollowedTrades(deps.clock);
  await followed.listen(deps.shared);
  const inserts = new TradeInserts({ ...deps, spool, isUrgent: () => followed.isAny });
  const { streamed, announce } = await announceBooks(deps.shared, deps.clock);
  const matcher = new MarketMatcher(deps);
  const quotes = new QuotePublisher(deps.shared, deps.clock);
  const quoted = new QuotedMarkets({ ...deps, directory: deps.markets }, (...known) => quotes.take(...known));
  const trigger: JobRunner['trigger'] = (...job) => runner.trigger(...job);
  const shared = { ...deps, spool, inserts, matcher, quoted, streamed, announce, trigger };
  const feeds = deps.platforms.map((data) => new PlatformFeed(shared, data));
  await followMarkets(deps.shared, (platform, refs) =>
    feeds.find(({ data }) => data.platform === platform)?.marketsMoved(refs),
  );
  const histories = await serveHistoryRequests(
    deps.shared,
    deps.log,
    feeds.map((feed) => ({
      data: feed.data,
      deps: feed.trades,
      leased: () => feed.leasedRun(runner.held(`${feed.data.platform}:trades`)),
    })),
  );
  runner.start(feeds.flatMap((feed) => feed.jobs()));
  for (const feed of feeds) feed.follow(runner);
  return {
    stop: async () => {
      // Before the leases are released, so that buffered rows of books can still be stored.
      await Promise.all(feeds.map((feed) => feed.stop()));
      quoted.stop();
      quotes.stop();
      histories.clear();
      await runner.stop();
    },
  };
}
