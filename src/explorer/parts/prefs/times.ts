import { zone } from './prefs.ts';

/** Day and minute of a time in Unix seconds, in the zone that the user prefers: 2026-11-27 08:30. */
export const minuteText = (seconds: number): string =>
  new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short', ...zone() }).format(seconds * 1000);

/** Day of month, or hour and minute, of a time in Unix seconds, for axes. */
export const dayText = (seconds: number): string =>
  new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', ...zone() }).format(seconds * 1000);
export const clockText = (seconds: number): string =>
  new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...zone() }).format(
    seconds * 1000,
  );

/** Texts that show when trading ends in markets of one name, the shortest first. */
export const END_TEXTS = [dayText, minuteText];
