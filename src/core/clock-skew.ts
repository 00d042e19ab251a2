import { PLATFORM_NAMES, type Platform } from './model.ts';

/** Platforms refuse signatures that are too old or too new; below this the clocks agree well enough for all of them. */
const NOTABLE_MS = 2000;

/** Says by how much this server's clock differs from a platform's; null while they agree. `skewMs`: ours minus the platform's. */
export function skewText(platform: Platform, skewMs: number): string | null {
  if (Math.abs(skewMs) <= NOTABLE_MS) return null;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `this server's clock is ${seconds} s ${skewMs < 0 ? 'behind' : 'ahead of'} ${PLATFORM_NAMES[platform]}'s: set it`;
}
