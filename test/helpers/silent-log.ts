import type { Log } from '../../src/core/log.ts';

/** For what a test does not look at. */
export const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
