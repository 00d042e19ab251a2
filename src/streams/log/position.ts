import type { Platform } from '../../core/model.ts';

/** What is logged: stored trades, created or changed markets, and verdicts on two markets, under the platform of the first. */
export const FEEDS = ['trades', 'markets', 'matches'] as const;
export type Feed = (typeof FEEDS)[number];

/** One ordered log: a feed of a platform. */
export interface Partition {
  feed: Feed;
  platform: Platform;
}

export const nameOf = ({ feed, platform }: Partition): string => `${feed}:${platform}`;

/** The channel for announcements that a partition has grown; the message is its name. */
export const LOG_CHANNEL = 'event_log';

const EPOCH = 2 ** 32;

/** A position is epoch × 2^32 + n, exact in a double up to two million epochs. */
export const positionOf = (epoch: number, n: number): number => epoch * EPOCH + n;
export const epochOf = (position: number): number => Math.floor(position / EPOCH);
export const placeOf = (position: number): number => position % EPOCH;

/** Greater than any n: the end of an epoch whose rows may all have been dropped by retention. */
export const UNKNOWN_END = EPOCH - 1;

/** The last n of each epoch; the newest has no end yet. */
export type EpochEnds = ReadonlyMap<number, number>;

/** Whether a row came from a writer whose epoch had ended before it: the next writer logs it again. */
export function isFenced(position: number, ends: EpochEnds): boolean {
  const end = ends.get(epochOf(position));
  return end !== undefined && placeOf(position) > end;
}

/** Whether there is no row between two positions. */
export function isNext(before: number, position: number, ends: EpochEnds): boolean {
  if (position === before + 1) return true;
  const end = ends.get(epochOf(before)) ?? Infinity;
  if (placeOf(position) !== 1 || end > placeOf(before)) return false;
  for (let epoch = epochOf(before) + 1; epoch < epochOf(position); epoch += 1) {
    if (ends.get(epoch) !== 0) return false;
  }
  return true;
}
