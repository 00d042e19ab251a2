/**
 * The version of a new row: when its body was received. The store keeps the row with the latest version. If the clock was set back after the
 * stored row was written, the new row gets the next millisecond after it. All times are ISO-8601 or Unix ms.
 */
export function versionOf(fetchedAt: string, storedAt: string | undefined, nowMs: number): string {
  const storedMs = storedAt === undefined ? 0 : Date.parse(storedAt);
  const isAhead = storedMs > nowMs && storedMs > Date.parse(fetchedAt);
  return isAhead ? new Date(storedMs + 1).toISOString() : fetchedAt;
}
