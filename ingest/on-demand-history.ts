import type { Log } from '../src/core/log.ts';
import PQueue from 'p-queue';
import { z } from 'zod';
import type { PlatformData } from '../src/platforms/contract.ts';
import { HISTORY_CHANNEL, type HistoryRequest } from '../src/markets/trade-history.ts';
import type { Shared } from '../src/stores/shared/shared.ts';
import { PLATFORMS } from '../src/core/model.ts';
import type { JobRun } from './job-runner.ts';
import { readMarketHistory, type TradesDeps } from './trades.ts';

const WAITING = 200;

const Request = z.object({
  platform: z.enum(PLATFORMS),
  ref: z.string().min(1).max(200),
  sinceUs: z.number(),
  user: z.string().min(1).max(200),
});

/** Serves requests for one market's older trades, in the process that holds the platform's trades lease: only it may store trades. */
export async function serveHistoryRequests(
  shared: Shared,
  log: Log,
  platforms: readonly { data: PlatformData; deps: TradesDeps; leased(): JobRun | null }[],
): Promise<PQueue> {
  const queue = new PQueue({ concurrency: 2 });
  const waiting = new Set<string>();
  const serve = async (request: HistoryRequest): Promise<void> => {
    const platform = platforms.find((p) => p.data.platform === request.platform);
    const run = platform?.leased();
    if (!platform || !run) return;
    await readMarketHistory(platform.deps, platform.data, request, run);
  };
  await shared.subscribe(HISTORY_CHANNEL, (message) => {
    const request = Request.safeParse(JSON.parse(message));
    if (!request.success || waiting.has(message) || waiting.size >= WAITING) return;
    waiting.add(message);
    void queue
      .add(() => serve(request.data))
      .catch((error: unknown) => log.warn({ err: error, ref: request.data.ref }, 'Failed to read a requested history'))
      .finally(() => waiting.delete(message));
  });
  return queue;
}
