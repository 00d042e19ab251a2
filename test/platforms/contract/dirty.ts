import { expect, test } from 'vitest';
import type { Platform } from '../../../src/core/model.ts';
import type { Difference } from '../../oracle/vocabulary.ts';
import type { ReplyEdit } from '../../simulators/lib/index.ts';
import { clockBehind } from '../../helpers/flowing-clock.ts';
import { stageOf } from './contract.ts';
import type { TruthOf } from './registry.ts';
import { syncTests } from './sync.ts';

/** The fields of a market that dirt may make unknown or old; 'all': the whole market may be missing or old. */
export type Excuse = readonly string[] | 'all';

/** How a platform's answers get dirty: odd types and times, a 500 for one item, stale copies, hidden rows; several of each. */
export interface Dirt {
  edit: ReplyEdit;
  /** By market id. Every other market is a clean neighbour: each of its fields must be right. */
  excused: ReadonlyMap<string, Excuse>;
  /** What GET /health must say in `left_out` while the answers are dirty. */
  named: readonly RegExp[];
}

/**
 * The part of the contract in `npm test`: what the first synchronisation stores and serves, then the tests of a platform that answers
 * as real ones do. `dirtOf` chooses what gets dirty once the service has caught up with the clean world.
 */
export function dirtyOf<P extends Platform>(platform: P, dirtOf: (truth: TruthOf<P>) => Dirt): void {
  const stage = stageOf(platform, clockBehind());
  syncTests(stage);

  /** What is wrong with clean neighbours, or with fields that no dirt concerns. */
  const wrongWith = async ({ excused }: Dirt): Promise<Difference[]> => {
    const wrong = await stage().wrongMarkets();
    return wrong.filter(({ id, field }) => {
      const excuse = excused.get(id) ?? [];
      return excuse !== 'all' && !excuse.includes(field);
    });
  };

  test('odd fields, unreadable items and stale copies cost nothing of a clean neighbour, and are named', async () => {
    const { truth, service } = stage();
    truth.sim.rewrite(null);
    expect(await stage().eventually(() => stage().wrongMarkets(), 120)).toEqual([]);
    const dirt = dirtOf(truth);
    expect(dirt.excused.size).toBeGreaterThan(0);
    truth.sim.rewrite(dirt.edit);
    for (let round = 0; round < 2; round += 1) {
      await stage().live(60);
      expect(await stage().eventually(() => wrongWith(dirt))).toEqual([]);
      expect(await stage().eventually(() => stage().strayTrades())).toEqual([]);
    }
    const unnamed = async () => {
      const { left_out: leftOut = [], detail = '' } = await service.health(platform);
      const failing = /fails:/.test(detail) ? [detail] : [];
      return [...failing, ...dirt.named.map(String).filter((_, at) => !dirt.named[at]?.test(leftOut.join('\n')))];
    };
    expect(await stage().eventually(unnamed)).toEqual([]);
  });

  test('once the answers are clean, what was left out is completed', async () => {
    stage().truth.sim.rewrite(null);
    await stage().live(40);
    expect(await stage().wrongAfterAll()).toEqual([]);
    const named = async () => (await stage().service.health(platform)).left_out ?? [];
    expect(await stage().eventually(named)).toEqual([]);
  });
}
