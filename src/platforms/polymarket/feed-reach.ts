const REACH_YEARS = 3;

/** Unix ms: older trades of a market are in no feed. */
export function feedStartMs(nowMs: number): number {
  const date = new Date(nowMs);
  return date.setUTCFullYear(date.getUTCFullYear() - REACH_YEARS);
}
