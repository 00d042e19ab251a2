import type { Platform } from '../../../src/core/model.ts';
import { clockBehind } from '../../helpers/flowing-clock.ts';
import { stageOf } from './contract.ts';
import { syncTests } from './sync.ts';

/** The short part of the contract, for `npm test`: what the first synchronisation stores and serves. */
export function firstSyncOf(platform: Platform): void {
  syncTests(stageOf(platform, clockBehind()));
}
