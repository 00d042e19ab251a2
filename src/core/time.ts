export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const DAY_US = DAY_MS * 1000;

/** `2026-01-06 23:09:09.123`, a ClickHouse DateTime64(3). */
export const storeTime = (at: Date | number | string): string =>
  new Date(at).toISOString().slice(0, 23).replace('T', ' ');
