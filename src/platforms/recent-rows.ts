/** What a page of a newest-first list adds to the rows since a time, and whether the next page has to be read. */
export interface RecentRows<T> {
  recent: T[];
  goesOn: boolean;
}

/**
 * The rows of a page that may be as recent as `sinceMs`. A row whose time is unknown (null) is one of them, and never continues the
 * list: the next page has to be read only after a row that is known to be recent.
 */
export function recentRows<T>(rows: readonly T[], timeOf: (row: T) => string | null, sinceMs: number): RecentRows<T> {
  const timed = rows.map((row) => ({ row, ms: Date.parse(timeOf(row) ?? '') }));
  return {
    recent: timed.flatMap(({ row, ms }) => (ms < sinceMs ? [] : [row])),
    goesOn: timed.some(({ ms }) => ms >= sinceMs),
  };
}
