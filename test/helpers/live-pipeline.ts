import type { Platform } from '../../src/core/model.ts';
import type { Clock } from '../../src/core/time.ts';
import type { SocketObserver } from '../../src/platforms/sockets/contract.ts';
import { type Pipeline, startPipeline } from '../oracle/pipeline.ts';
import type { Simulator } from '../simulators/simulator.ts';

interface Live {
  clock: Clock;
  env: Record<string, string>;
  observer: SocketObserver;
}

/** The service over one platform whose sockets are followed. */
export const startLive = (
  sim: Pick<Simulator<unknown>, 'env'>,
  platform: Platform,
  { clock, ...live }: Live,
): Promise<Pipeline> => startPipeline([sim], [platform], { backfillDays: 2, clock, live: { pace: 0.15, ...live } });

/** The state of a platform's ingestion unless its sockets report trades and books. */
export async function notLive(service: Pipeline, platform: Platform): Promise<object[]> {
  const state = await service.health(platform);
  const { feed, socket } = state;
  return feed === 'live' && socket?.connected === true && socket.subscriptions >= 2 ? [] : [state];
}

/** Trades of `made` that are not stored once, and rows of trades that are not in `known`: `n` of each id. */
export function wrongOnce(
  rows: readonly { id: string; n: string }[],
  made: readonly string[],
  known: readonly string[] = made,
): string[] {
  const stored = new Map(rows.map(({ id, n }) => [id, n]));
  const traded = new Set(known);
  return [
    ...made.filter((id) => stored.get(id) !== '1').map((id) => `${id} is stored ${stored.get(id) ?? 0} times`),
    ...[...stored.keys()].filter((id) => !traded.has(id)).map((id) => `${id} was never traded`),
  ];
}
