import type { Range } from '../range.ts';

const STATED = /[°º] ?([CF])\b|\b(Celsius|Fahrenheit)\b/i;
/** No place is as hot in degrees Celsius. */
const HOTTEST_C = 60;
const US_PLACES =
  /\b(?:nyc|new york|central park|los angeles|chicago|miami|denver|austin|philadelphia|houston|phoenix|boston|washington|seattle|san (?:francisco|antonio|diego)|las vegas|new orleans|dallas|atlanta|minneapolis|oklahoma city|kansas city|salt lake city|detroit|nashville|charlotte|tampa|orlando|st\.? louis|cleveland|baltimore|pittsburgh|indianapolis|milwaukee|memphis|death valley|honolulu|anchorage|united states)\b/i;

/**
 * The scale of degrees, c or f, as a market states it; else as its numbers or its place decide it. null if nothing does. Global figures
 * are published in Celsius.
 */
export function scaleOf(text: string, range: Range | null, isGlobal: boolean): 'c' | 'f' | null {
  const stated = STATED.exec(text);
  const letter = (stated?.[1] ?? stated?.[2]?.charAt(0))?.toLowerCase();
  if (letter === 'c' || letter === 'f') return letter;
  if (isGlobal) return 'c';
  const isTooHot = [range?.low, range?.high].some((degrees) => degrees != null && degrees > HOTTEST_C);
  return isTooHot || US_PLACES.test(text) ? 'f' : null;
}
