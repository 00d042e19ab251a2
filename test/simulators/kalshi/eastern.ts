const HOUR_S = 3600;
const DAY_S = 86_400;

/** Day of the month of the nth Sunday of a month (0 = January). */
function nthSunday(year: number, month: number, nth: number): number {
  const firstWeekday = new Date(Date.UTC(year, month, 1)).getUTCDay();
  return 1 + ((7 - firstWeekday) % 7) + 7 * (nth - 1);
}

/** Seconds that US Eastern time is behind UTC at an instant: 4 h from the second Sunday of March to the first of November. */
function behindUtc(seconds: number): number {
  const year = new Date(seconds * 1000).getUTCFullYear();
  const starts = Date.UTC(year, 2, nthSunday(year, 2, 2), 7) / 1000;
  const ends = Date.UTC(year, 10, nthSunday(year, 10, 1), 6) / 1000;
  return seconds >= starts && seconds < ends ? 4 * HOUR_S : 5 * HOUR_S;
}

/** The first US-Eastern midnight at or after an instant, in Unix seconds: 04:00Z in summer, 05:00Z in winter. */
export function easternMidnight(seconds: number): number {
  const day = Math.floor((seconds - 6 * HOUR_S) / DAY_S) * DAY_S;
  for (let date = day; ; date += DAY_S) {
    // Midnight itself is never ambiguous: clocks change at 02:00.
    const midnight = date + behindUtc(date + 4 * HOUR_S + 1800);
    if (midnight >= seconds) return midnight;
  }
}
