import { manualClock, type ManualClock } from '../lib/index.ts';
import { startLimitless, type LimitlessStart } from '../limitless.ts';
import type { Simulator } from '../simulator.ts';
import type { ClobMarket } from './model.ts';
import type { LimitlessWorld } from './world.ts';

const START = '2026-11-21T09:02:00.000Z';

export type Row = Record<string, unknown>;
export interface Rig {
  sim: Simulator<LimitlessWorld>;
  world: LimitlessWorld;
  clock: ManualClock;
  get(path: string): Promise<{ status: number; text: string; type: string; body: Row }>;
}

const started: Simulator<LimitlessWorld>[] = [];
/** To be run after each test. */
export async function closeRigs(): Promise<void> {
  for (const sim of started.splice(0)) await sim.close();
}

export async function rig(options: LimitlessStart = {}): Promise<Rig> {
  const clock = manualClock(START);
  const sim = await startLimitless({ clock, ...options });
  sim.enforceLimits = false;
  started.push(sim);
  const get = async (path: string) => {
    const reply = await fetch(`${sim.env['LIMITLESS_API_URL']}${path}`);
    const text = await reply.text();
    const type = reply.headers.get('content-type') ?? '';
    return { status: reply.status, text, type, body: (type.includes('json') ? JSON.parse(text) : {}) as Row };
  };
  return { sim, world: sim.world, clock, get };
}

export const clobs = (world: LimitlessWorld): ClobMarket[] =>
  [...world.markets.values()].filter((market): market is ClobMarket => market.kind === 'clob');
export const clob = (world: LimitlessWorld, wanted: (market: ClobMarket) => boolean): ClobMarket => {
  const found = clobs(world).find(wanted);
  if (!found) throw new Error('the cast lacks such a market');
  return found;
};
export const plain = (world: LimitlessWorld): ClobMarket =>
  clob(world, (one) => one.status === 'FUNDED' && one.group === null && one.popularity > 0 && !one.series);
export const rows = (value: unknown): Row[] => value as Row[];
export const numbers = (value: unknown): number[] => value as number[];

export async function listAll(get: Rig['get']): Promise<Row[]> {
  const all: Row[] = [];
  for (let page = 1; ; page++) {
    const { body } = await get(`/markets/active?limit=25&page=${page}`);
    all.push(...rows(body['data']));
    if (rows(body['data']).length === 0) return all;
  }
}

export async function tape(get: Rig['get'], slug: string, limit = 7): Promise<Row[]> {
  const all: Row[] = [];
  for (let page = 1; ; page++) {
    const { body } = await get(`/markets/${slug}/events?limit=${limit}&page=${page}`);
    all.push(...rows(body['events']));
    if (page >= Number(body['totalPages'])) return all;
  }
}
