import type { Platform } from '../../core/model.ts';
import type { Answer } from './errors.ts';

/** Readings kept for each platform; the median ignores a few odd ones. */
const READINGS = 9;
/** The header counts whole seconds. */
const SECOND_MS = 1000;

/** The `Date` header of each platform's latest replies, compared with this server's clock. */
export class PlatformClocks {
  readonly #readings = new Map<Platform, number[]>();

  /** Notes a reply to a request that was on its way from `sentAtMs` to `receivedAtMs`, by our clock. */
  note(platform: Platform, { headers }: Answer, sentAtMs: number, receivedAtMs: number): void {
    const statedMs = Date.parse(headers['date'] ?? '');
    // A cache repeats the time of an earlier answer.
    if (Number.isNaN(statedMs) || Number(headers['age'] ?? 0) > 0) return;
    const readings = this.#readings.get(platform) ?? [];
    const aheadMs = (sentAtMs + receivedAtMs) / 2 - (statedMs + SECOND_MS / 2);
    const uncertainMs = (receivedAtMs - sentAtMs + SECOND_MS) / 2;
    readings.push(Math.abs(aheadMs) > uncertainMs ? aheadMs : 0);
    this.#readings.set(platform, readings.slice(-READINGS));
  }

  /** How far this server's clock is ahead of the platform's, negative if behind; 0 while that is not certain. */
  skewMs(platform: Platform): number {
    const readings = (this.#readings.get(platform) ?? []).toSorted((a, b) => a - b);
    const low = readings[Math.floor((readings.length - 1) / 2)] ?? 0;
    const high = readings[Math.floor(readings.length / 2)] ?? 0;
    return Math.abs(low) < Math.abs(high) ? low : high;
  }
}
